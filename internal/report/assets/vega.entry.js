// What the report's charts need of Vega and Vega-Lite, as one script without
// modules. The interpreter evaluates expressions without eval, so that a page may
// forbid it.
import { parse, View } from "vega";
import { compile } from "vega-lite";
import { expressionInterpreter } from "vega-interpreter";

globalThis.samewireVega = { parse, View, compile, expressionInterpreter };
