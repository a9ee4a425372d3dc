// Colours of a code field by the meaning of each code: Okabe and Ito's palette, which is safe for all colour vision.
import { hexToRgb } from "./rgb.js";

const NOTHING = /^(no|none|no data|nothing|reserved|missing)$|no precipitation|^(sea|water)$/;
const WORDS = [
  [/freezing/, "#d55e00"], [/ice pellets|sleet/, "#cc79a7"], [/snow/, "#56b4e9"], [/mix/, "#7f6fb5"], [/hail|graupel/, "#3d2b6b"],
  [/thunder/, "#e69f00"], [/drizzle/, "#f0e442"], [/rain/, "#009e73"], [/yes/, "#0072b2"], [/land/, "#c9b98f"],
];
const OTHERS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444"];
const MOST_CODES = 60;

// `flags` are [value, meaning] in ascending order. Null if they cannot be shown as codes.
export function categoriesOf(flags) {
  if (!flags.length || flags.length > MOST_CODES) return null;
  const levels = flags.slice(1).map(([value], n) => (value + flags[n][0]) / 2);
  const colours = flags.map(([, meaning], n) => colourOf(meaning.toLowerCase().replaceAll("_", " ").trim(), n));
  return { levels, ticks: [], colours, meanings: flags.map(([value, meaning]) => meaning || `code ${value}`) };
}

function colourOf(meaning, n) {
  if (NOTHING.test(meaning)) return [0, 0, 0, 0];
  const known = WORDS.find(([words]) => words.test(meaning));
  return [...hexToRgb(known ? known[1] : OTHERS[n % OTHERS.length]), 255];
}
