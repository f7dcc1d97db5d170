/** The instructions given so far, newest first. */

/** Where a history is kept between windows. */
export interface Memory {
  load(): readonly string[];
  save(instructions: readonly string[]): PromiseLike<void>;
}

const LIMIT = 50;

export class InstructionHistory {
  constructor(private readonly memory: Memory) {}

  get instructions(): readonly string[] {
    return this.memory.load();
  }

  /** Put an instruction first; the same words further down go, as does what is beyond the limit. */
  async add(instruction: string): Promise<void> {
    const others = this.memory.load().filter((one) => one !== instruction);
    await this.memory.save([instruction, ...others].slice(0, LIMIT));
  }

  async remove(instruction: string): Promise<void> {
    await this.memory.save(this.memory.load().filter((one) => one !== instruction));
  }
}
