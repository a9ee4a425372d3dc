// Draws a field in colours with WebGL2: each pixel has the colour of the grid point whose cell contains it.
import { LUT_SIZE } from "../scale/scale.js";
import { meshOf } from "../view/mesh.js";
import { turnsInView } from "../view/lines.js";
import { GROUND, HATCH_PIXELS, STRIPE, STRIPE_PIXELS } from "./hatch.js";
import { PAPER } from "./picture.js";

const MOST_LEVELS = 64;
const MISSING = 3e38;
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i; // software rendering

const glsl = (rgb) => `vec4(${rgb.map((channel) => (channel / 255).toFixed(6))}, 1.0)`;

const VERTEX = `#version 300 es
in vec2 place;
in vec2 cell;
uniform vec2 factor;
uniform vec2 shift;
out vec2 at;
void main() {
  at = cell;
  gl_Position = vec4(place * factor + shift, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D field;
uniform sampler2D colours;
uniform ivec2 size;
uniform vec2 range;
uniform int count;
uniform float levels[${MOST_LEVELS}];
uniform float ratio;
in vec2 at;
out vec4 colour;
void main() {
  ivec2 cell = clamp(ivec2(floor(at + 0.5)), ivec2(0), size - 1);
  float value = texelFetch(field, cell, 0).r;
  if (value > 1e38) {
    float place = mod(gl_FragCoord.x - gl_FragCoord.y, ${HATCH_PIXELS}.0 * ratio);
    colour = place < ${STRIPE_PIXELS}.0 * ratio ? ${glsl(STRIPE)} : ${glsl(GROUND)};
    return;
  }
  int n = 0;
  if (count >= 0) {
    for (int k = 0; k < count; k++) n += int(value >= levels[k]);
  } else {
    n = int(clamp((value - range.x) / (range.y - range.x), 0.0, 1.0) * ${LUT_SIZE - 1}.0 + 0.5);
  }
  colour = texelFetch(colours, ivec2(n, 0), 0);
  if (colour.a == 0.0) colour = ${glsl(PAPER)};
}`;

export class GlRaster {
  #gl;
  #program;
  #uniforms = {};
  #field = false;
  #size = [0, 0];
  #mesh = "";
  #turn = null;
  #triangles = 0;

  // Null if WebGL2 is not available.
  static on(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: true });
    return gl ? new GlRaster(gl) : null;
  }

  constructor(gl) {
    this.#gl = gl;
    this.#program = programOf(gl);
    gl.useProgram(this.#program);
    for (const name of ["field", "colours", "size", "range", "count", "levels", "ratio", "factor", "shift"]) {
      this.#uniforms[name] = gl.getUniformLocation(this.#program, name);
    }
    this.textures = [gl.createTexture(), gl.createTexture()];
    this.buffers = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    gl.uniform1i(this.#uniforms.field, 0);
    gl.uniform1i(this.#uniforms.colours, 1);
    this.largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    const facts = gl.getExtension("WEBGL_debug_renderer_info");
    this.software = SOFTWARE.test(facts ? gl.getParameter(facts.UNMASKED_RENDERER_WEBGL) : "");
  }

  show({ field, scale, plane, grid }) {
    this.#setField(field, grid.rows, grid.columns);
    this.#setScale(scale);
    const key = `${plane.key} ${grid.key}`;
    if (key !== this.#mesh) this.#setMesh(meshOf(grid, plane), plane.turn);
    this.#mesh = key;
  }

  #setField(values, rows, columns) {
    const gl = this.#gl;
    const known = withoutNaN(values);
    bind(gl, 0, this.textures[0]);
    const same = this.#field && this.#size[0] === columns && this.#size[1] === rows;
    if (same) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, columns, rows, gl.RED, gl.FLOAT, known);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, columns, rows, 0, gl.RED, gl.FLOAT, known);
    this.#size = [columns, rows];
    gl.uniform2i(this.#uniforms.size, columns, rows);
    this.#field = true;
  }

  #setScale(scale) {
    const gl = this.#gl;
    const colours = scale.levels ? Uint8Array.from(scale.colours.flat()) : scale.lut;
    bind(gl, 1, this.textures[1]);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, colours.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
    gl.uniform1i(this.#uniforms.count, scale.levels ? scale.levels.length : -1);
    if (scale.levels) {
      const levels = new Float32Array(MOST_LEVELS);
      levels.set(scale.levels);
      gl.uniform1fv(this.#uniforms.levels, levels);
    } else gl.uniform2f(this.#uniforms.range, scale.low, scale.high);
  }

  #setMesh(mesh, turn) {
    const gl = this.#gl;
    [mesh.places, mesh.cells].forEach((data, n) => {
      const place = gl.getAttribLocation(this.#program, n ? "cell" : "place");
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[n]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 2, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[2]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
    this.#triangles = mesh.triangles.length;
    this.#turn = turn;
  }

  draw(camera) {
    const gl = this.#gl;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.#field) return;
    const factor = [(2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height];
    gl.uniform2f(this.#uniforms.factor, ...factor);
    gl.uniform1f(this.#uniforms.ratio, gl.drawingBufferWidth / camera.width);
    for (const shift of turnsInView(camera, this.#turn)) {
      gl.uniform2f(this.#uniforms.shift, (shift - camera.x) * factor[0], -camera.y * factor[1]);
      gl.drawElements(gl.TRIANGLES, this.#triangles, gl.UNSIGNED_INT, 0);
    }
  }
}

// Replaces NaN, which some drivers do not pass to shaders, by a number; returns the same array if it has no NaN.
function withoutNaN(values) {
  const first = values.findIndex(Number.isNaN);
  if (first < 0) return values;
  const known = values.slice();
  for (let at = first; at < known.length; at++) if (known[at] !== known[at]) known[at] = MISSING;
  return known;
}

function bind(gl, unit, texture) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
  for (const key of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, key, gl.CLAMP_TO_EDGE);
}

function programOf(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "no shader");
  return program;
}
