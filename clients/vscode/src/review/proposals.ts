/** The proposals that wait for review. */

import type { Proposal } from "../protocol/messages";
import { undecided } from "./hunks";

/** What became of a session when something changed; one that comes back, since its edit was undone, is `updated`. */
export type Change = "arrived" | "updated" | "resolved";

export type Listener = (proposal: Proposal, change: Change) => void;

export class Proposals {
  private readonly bySession = new Map<string, Proposal>();
  private readonly seen = new Set<string>();
  private readonly listeners: Listener[] = [];

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Keep what the server says of a session; a proposal without undecided hunks is resolved and forgotten. */
  update(proposal: Proposal): void {
    if (undecided(proposal.hunks).length > 0) {
      const change = this.seen.has(proposal.session) ? "updated" : "arrived";
      this.seen.add(proposal.session);
      this.bySession.set(proposal.session, proposal);
      this.tell(proposal, change);
    } else if (this.bySession.delete(proposal.session)) {
      this.tell(proposal, "resolved");
    }
  }

  /** Forget every proposal: a server that ended knows none of its sessions any more. */
  clear(): void {
    const all = [...this.bySession.values()];
    this.bySession.clear();
    for (const proposal of all) this.tell({ ...proposal, hunks: [] }, "resolved");
  }

  get(session: string): Proposal | undefined {
    return this.bySession.get(session);
  }

  /** A document's proposals, oldest first. */
  of(uri: string): readonly Proposal[] {
    return this.all.filter((proposal) => proposal.uri === uri);
  }

  /** Every proposal, oldest first. */
  get all(): readonly Proposal[] {
    return [...this.bySession.values()];
  }

  private tell(proposal: Proposal, change: Change): void {
    for (const listener of this.listeners) listener(proposal, change);
  }
}
