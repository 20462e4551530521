import { unfit } from './errors.ts'

/** The bounds of one copy or removal. */
export interface TreeLimits {
  readonly treeDepth: number
  readonly treeEntries: number
  readonly copyBytes: number
}

/** The entries and bytes that one walk through a tree may still spend. */
export class TreeBudget {
  readonly depth: number
  #entries: number
  #bytes: number

  constructor({ treeDepth, treeEntries, copyBytes }: TreeLimits) {
    this.depth = treeDepth
    this.#entries = treeEntries
    this.#bytes = copyBytes
  }

  get entries(): number {
    return this.#entries
  }

  spendEntries(count: number): void {
    this.#entries -= count
  }

  readonly spendBytes = (count: number): void => {
    this.#bytes -= count
    if (this.#bytes < 0) throw unfit('It is too large to be copied.')
  }
}
