/** Settings are checked once, at the edge: what is wrong is told and replaced by its default. */

import type { Preset, Review } from "../protocol/messages";

/** Where a proposal is shown when it arrives. */
export type Preview = "diff" | "inline";

export interface Settings {
  readonly path: string;
  readonly review: Review;
  readonly preview: Preview;
  readonly model: string | null;
  readonly presets: readonly Preset[];
  readonly commentMarker: string;
}

export const DEFAULTS: Settings = {
  path: "",
  review: "preview",
  preview: "diff",
  model: null,
  presets: [],
  commentMarker: "plgd:",
};

export interface Checked {
  readonly settings: Settings;
  /** A sentence for each setting that was replaced or left out. */
  readonly problems: readonly string[];
}

/** Decode what the user set; `get` returns the value of a setting below `plgd.`, whatever its type. */
export function checkSettings(get: (name: keyof Settings) => unknown): Checked {
  const problems: string[] = [];

  function text(name: "path" | "commentMarker" | "model"): string | null {
    const value = get(name);
    if (value === undefined || value === null) return null;
    if (typeof value === "string") return value.trim();
    problems.push(`plgd.${name} must be a string, not ${shown(value)}.`);
    return null;
  }

  function choice<T extends string>(name: "review" | "preview", choices: readonly T[], fallback: T): T {
    const value = get(name);
    if (value === undefined || value === null) return fallback;
    const found = choices.find((one) => one === value);
    if (found !== undefined) return found;
    const allowed = choices.map((one) => `"${one}"`).join(" or ");
    problems.push(`plgd.${name} must be ${allowed}, not ${shown(value)}; "${fallback}" is used.`);
    return fallback;
  }

  const path = text("path") ?? DEFAULTS.path;
  const marker = text("commentMarker") ?? DEFAULTS.commentMarker;
  if (marker === "") problems.push(`plgd.commentMarker must not be empty; "${DEFAULTS.commentMarker}" is used.`);
  const model = text("model");
  const settings: Settings = {
    path,
    review: choice("review", ["preview", "apply"], DEFAULTS.review),
    preview: choice("preview", ["diff", "inline"], DEFAULTS.preview),
    model: model === "" ? null : model,
    presets: checkPresets(get("presets"), problems),
    commentMarker: marker === "" ? DEFAULTS.commentMarker : marker,
  };
  return { settings, problems };
}

function checkPresets(value: unknown, problems: string[]): readonly Preset[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.push(`plgd.presets must be a list, not ${shown(value)}.`);
    return [];
  }
  const presets: Preset[] = [];
  for (const [index, one] of (value as unknown[]).entries()) {
    const problem = presetProblem(one, presets);
    if (problem === undefined) presets.push(one as Preset);
    else problems.push(`plgd.presets, entry ${index + 1}: ${problem}; it is left out.`);
  }
  return presets;
}

const PRESET_KEYS = ["id", "title", "instruction", "languages"];

function presetProblem(value: unknown, before: readonly Preset[]): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `must be an object, not ${shown(value)}`;
  const preset = value as Record<string, unknown>;
  const unknown = Object.keys(preset).find((key) => !PRESET_KEYS.includes(key));
  if (unknown !== undefined) return `"${unknown}" is no key of a preset (${PRESET_KEYS.join(", ")})`;
  for (const key of ["id", "title", "instruction"]) {
    const text = preset[key];
    if (typeof text !== "string" || text.trim() === "") return `"${key}" must be a text that is not empty`;
  }
  // The id becomes a part of a code action's kind, which is divided by dots.
  if (!/^[A-Za-z0-9_-]+$/.test(preset["id"] as string)) return `"id" may hold letters, digits, "-" and "_" only`;
  if (before.some((other) => other.id === preset["id"])) return `the id "${preset["id"] as string}" is there twice`;
  const languages = preset["languages"];
  if (languages === undefined) return undefined;
  if (Array.isArray(languages) && languages.every((one) => typeof one === "string")) return undefined;
  return `"languages" must be a list of language ids`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
