package origin

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// chunk is how much of a body is made or checked at a time, in bytes.
const chunk = 32 << 10

// index is what the root says.
const index = `samewire ` + lab.Version + `
/bytes/N       N bytes whose content can be checked (GET, HEAD)
/upload        checks the content that it is sent (POST, PUT)
?delay=100ms   on any path: waits before it answers
`

// handler answers requests, whatever protocol they come in.
type handler struct {
	altSvc string

	mu     sync.Mutex
	closed bool
	open   sync.WaitGroup
}

// answer is a response that is ready to be written.
type answer struct {
	status  int
	kind    string // content type
	allow   string // of status 405: the methods that there are
	size    int64
	content io.Reader
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.enter() {
		panic(http.ErrAbortHandler)
	}
	defer h.open.Done()
	if r.ProtoMajor < 3 {
		w.Header().Set("Alt-Svc", h.altSvc)
	}
	delay, err := delayOf(r)
	if err != nil {
		text(http.StatusBadRequest, err.Error()).write(w, r)
		return
	}
	a := route(r)
	if wait(r, delay) {
		a.write(w, r)
	}
}

// enter counts a request; it is false once the server has closed.
func (h *handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.open.Add(1)
	}
	return !h.closed
}

// wait lets no request in any more, and waits for those that are open.
func (h *handler) wait() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.open.Wait()
}

func route(r *http.Request) answer {
	if size, ok := strings.CutPrefix(r.URL.Path, "/bytes/"); ok {
		return bytes(r, size)
	}
	switch r.URL.Path {
	case "/":
		return allowed(r, text(http.StatusOK, strings.TrimSuffix(index, "\n")), http.MethodGet, http.MethodHead)
	case "/upload":
		return upload(r)
	default:
		return text(http.StatusNotFound, "there is nothing at "+r.URL.Path)
	}
}

func bytes(r *http.Request, size string) answer {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || n > lab.MaxSize {
		return text(http.StatusBadRequest,
			fmt.Sprintf("/bytes/%s: want a number of bytes from 0 to %d", size, lab.MaxSize))
	}
	return allowed(r, answer{
		status: http.StatusOK, kind: "application/octet-stream", size: n, content: &lab.ContentReader{Size: n},
	}, http.MethodGet, http.MethodHead)
}

func upload(r *http.Request) answer {
	if a := allowed(r, answer{}, http.MethodPost, http.MethodPut); a.status != 0 {
		return a
	}
	var check lab.ContentCheck
	if _, err := io.CopyBuffer(&check, struct{ io.Reader }{r.Body}, make([]byte, chunk)); err != nil {
		return text(http.StatusBadRequest, fmt.Sprintf("the body ended after %d bytes: %v", check.N, err))
	}
	a := text(http.StatusOK, fmt.Sprintf(`{"bytes":%d,"ok":%t}`, check.N, !check.Corrupt))
	a.kind = "application/json"
	return a
}

// allowed is a, or 405 when the request's method is none of methods.
func allowed(r *http.Request, a answer, methods ...string) answer {
	for _, m := range methods {
		if r.Method == m {
			return a
		}
	}
	list := strings.Join(methods, ", ")
	a = text(http.StatusMethodNotAllowed, r.Method+" "+r.URL.Path+": want one of "+list)
	a.allow = list
	return a
}

func text(status int, sentence string) answer {
	return answer{
		status: status, kind: "text/plain; charset=utf-8",
		size: int64(len(sentence) + 1), content: strings.NewReader(sentence + "\n"),
	}
}

// write writes the answer. An error can only be the client's going away, which
// the server sees by itself.
func (a answer) write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.FormatInt(a.size, 10))
	if a.allow != "" {
		w.Header().Set("Allow", a.allow)
	}
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead || a.size == 0 {
		return
	}
	// Hide the libraries' own ways of copying, so that all protocols are
	// handed the same chunks.
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{a.content}, make([]byte, min(a.size, chunk)))
}

// delayOf reads the request's delay.
func delayOf(r *http.Request) (time.Duration, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, fmt.Errorf("query %q: %w", r.URL.RawQuery, err)
	}
	if !query.Has("delay") {
		return 0, nil
	}
	d, err := lab.ParseDelay(query.Get("delay"))
	if err != nil {
		return 0, fmt.Errorf("delay: %w", err)
	}
	return d, nil
}

// wait waits for d. It is false when the client went away meanwhile.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
