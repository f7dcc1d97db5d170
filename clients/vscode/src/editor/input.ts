/** The box that asks what to change. */

import { type Memento, type QuickInputButton, type QuickPickItem, QuickPickItemKind, ThemeIcon, window } from "vscode";
import { type Choice, choices } from "../ask/choices";
import { InstructionHistory } from "../ask/history";
import type { Preset } from "../protocol/messages";

const KEY = "plgd.instructions";
const FORGET: QuickInputButton = { iconPath: new ThemeIcon("close"), tooltip: "Forget this instruction" };
const SECTIONS = { typed: "", history: "asked before", preset: "presets" } as const;

interface Item extends QuickPickItem {
  readonly instruction: string;
}

/** What the box shows beside the instructions. */
export interface Question {
  readonly title: string;
  readonly language: string;
  readonly presets: readonly Preset[];
  /** What stands in the box at first. */
  readonly instruction?: string;
}

export class InstructionInput {
  private readonly history: InstructionHistory;

  constructor(memento: Memento) {
    this.history = new InstructionHistory({
      load: () => memento.get<readonly string[]>(KEY, []),
      save: (instructions) => memento.update(KEY, instructions),
    });
  }

  /** Return the instruction, which is then first in the history, or undefined when the box was left. */
  async ask(question: Question): Promise<string | undefined> {
    const instruction = await this.show(question);
    if (instruction !== undefined) await this.history.add(instruction);
    return instruction;
  }

  private show(question: Question): Promise<string | undefined> {
    const box = window.createQuickPick<Item>();
    box.title = question.title;
    box.placeholder = "What should change? Enter starts, Escape leaves.";
    box.value = question.instruction ?? "";
    const fill = (): void => {
      box.items = items(choices(box.value, this.history.instructions, question.presets, question.language));
    };
    fill();
    return new Promise((resolve) => {
      box.onDidChangeValue(fill);
      box.onDidTriggerItemButton(({ item }) => {
        void this.history.remove(item.instruction).then(fill);
      });
      box.onDidAccept(() => {
        resolve(box.activeItems[0]?.instruction);
        box.hide();
      });
      box.onDidHide(() => {
        resolve(undefined);
        box.dispose();
      });
      box.show();
    });
  }
}

function items(offered: readonly Choice[]): readonly Item[] {
  return offered.flatMap((choice, index) => {
    const item: Item = {
      label: choice.label,
      instruction: choice.instruction,
      // What is typed stays whatever the box filters by.
      alwaysShow: choice.kind === "typed",
      ...(choice.kind === "history" ? { buttons: [FORGET] } : {}),
      ...(choice.kind === "preset" ? { detail: choice.instruction } : {}),
    };
    if (choice.kind === "typed" || offered[index - 1]?.kind === choice.kind) return [item];
    return [{ label: SECTIONS[choice.kind], instruction: "", kind: QuickPickItemKind.Separator }, item];
  });
}
