/** What the box for an instruction offers. */

import type { Preset } from "../protocol/messages";

export interface Choice {
  readonly kind: "typed" | "history" | "preset";
  readonly label: string;
  readonly instruction: string;
}

/**
 * What is typed comes first, so that Enter means it; then what was asked before, then presets of the language.
 *
 * Nothing is filtered by what is typed: the box does that.
 */
export function choices(
  typed: string,
  history: readonly string[],
  presets: readonly Preset[],
  language: string,
): readonly Choice[] {
  const instruction = typed.trim();
  const before = history.filter((one) => one !== instruction);
  return [
    ...(instruction === "" ? [] : [{ kind: "typed" as const, label: instruction, instruction }]),
    ...before.map((one) => ({ kind: "history" as const, label: one, instruction: one })),
    ...presets
      .filter((preset) => preset.languages?.includes(language) ?? true)
      .map((preset) => ({ kind: "preset" as const, label: preset.title, instruction: preset.instruction })),
  ];
}
