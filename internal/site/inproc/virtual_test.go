package inproc

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// A job is a run, some times over, of the plain programs. The same job can be
// done here, in real time, and by this very test program built for virtual
// time: it then takes jobs from its environment and answers on descriptor 3.
type job struct {
	Path     lab.Path
	CC       string // empty: cubic
	Seed     uint64
	Size     int  // of the download, in bytes
	Datagram int  // of the echo, in bytes; 0: none
	QUIC     bool // download over QUIC instead
	Web      *web // fetch an object of this web instead
	Times    int  // 0: once
}

// answer is what became of one run of a job.
type answer struct {
	Connect, First, Last, UDP time.Duration
	Sender                    lab.Sender
	Facts                     lab.Facts
	Error                     string
	Goroutines                int // after Close
}

const jobsVariable = "SAMEWIRE_INPROC_JOBS"

func TestMain(m *testing.M) {
	if text := os.Getenv(jobsVariable); text != "" {
		if err := work(text); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	code := m.Run()
	_ = os.RemoveAll(workerDir)
	os.Exit(code)
}

func work(text string) error {
	var jobs []job
	if err := json.Unmarshal([]byte(text), &jobs); err != nil {
		return err
	}
	var answers [][]answer
	for _, j := range jobs {
		answers = append(answers, do(j))
	}
	return json.NewEncoder(os.NewFile(3, "answers")).Encode(answers)
}

func do(j job) []answer {
	var answers []answer
	for range max(j.Times, 1) {
		answers = append(answers, doOnce(j))
	}
	return answers
}

func doOnce(j job) answer {
	client := plainClient{size: j.Size, datagram: j.Datagram}
	site := Site{Server: plainServer{}, Client: clientFunc(client.get)}
	if j.QUIC {
		site = Site{Server: quicServer(j.Size), Client: quicClient(j.Size)}
	}
	if j.Web != nil {
		var err error
		if site, err = j.Web.site(); err != nil {
			return answer{Error: err.Error()}
		}
	}
	a := answer{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	h, err := site.Open(ctx, j.run())
	if err != nil {
		return answer{Error: err.Error()}
	}
	if err := h.Serve(ctx); err != nil {
		a.Error = err.Error()
	}
	report, err := h.Get(ctx)
	if err != nil {
		a.Error = err.Error()
	}
	a.Facts = h.Facts()
	a.Error += report.Error
	if err := h.Close(); err != nil {
		a.Error += err.Error()
	}
	a.Connect, a.First, a.Last, a.UDP = client.connect, client.first, client.last, client.udp
	a.Sender = client.sender
	a.Goroutines = runtime.NumGoroutine()
	return a
}

func (j job) run() lab.Run {
	stack := lab.DefaultStack
	if j.CC != "" {
		stack.CC = j.CC
	}
	run := lab.Run{Cell: lab.Cell{Path: j.Path, Stack: stack}, Seed: j.Seed}
	if j.Web != nil {
		run.Timeout, run.Cell.Protocol = time.Minute, j.Web.Protocol
		run.Cell.Load = lab.Load{Objects: 1, Size: 5, Warm: j.Web.Again}
	}
	return run
}

// workerDir holds this test program built for virtual time.
var workerDir string

var worker = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "samewire-inproc-")
	if err != nil {
		return "", err
	}
	workerDir = dir
	program := filepath.Join(dir, "inproc.test")
	build := exec.Command("go", "test", "-c", "-tags", "faketime", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for virtual time: %w\n%s", err, out)
	}
	return program, nil
})

// virtually does jobs in virtual time. The answers are in the order of the
// jobs; cpu is the processor time that all of it took.
func virtually(t testing.TB, jobs ...job) (answers [][]answer, cpu time.Duration) {
	t.Helper()
	program, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	c := exec.CommandContext(ctx, program)
	c.Env = append(os.Environ(), jobsVariable+"="+string(text), "GOMAXPROCS=1", "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=1")
	c.ExtraFiles = []*os.File{w}
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	decodeErr := json.NewDecoder(r).Decode(&answers)
	if err := c.Wait(); err != nil {
		t.Fatalf("worker: %v", err)
	}
	if decodeErr != nil {
		t.Fatalf("read answers: %v", decodeErr)
	}
	return answers, c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// path makes a path of equal directions.
func path(rtt time.Duration, rate lab.Rate, loss float64) lab.Path {
	w := lab.Way{Delay: rtt / 2, Rate: rate, Loss: lab.Loss{Share: loss}}
	return lab.Path{Up: w, Down: w}
}
