import { readFileSync, readdirSync } from 'node:fs'

/** A process and its parent, as `/proc` tells. */
interface Row {
  readonly pid: number
  readonly parent: number
  /** A process id is used again. The time of the start tells two such processes apart. */
  readonly started: string
  /** Whether a signal has stopped it. */
  readonly stopped: boolean
}

/** All processes of this machine. Those that end while this reads are left out. */
function table(): readonly Row[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (rowOf(Number(name)) ?? []) : []))
}

function rowOf(pid: number): Row | undefined {
  try {
    // The name of the program, in parentheses, may have spaces and parentheses.
    const [state, parent, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { pid, parent: Number(parent), started: rest[17] ?? '', stopped: state === 'T' }
  } catch {
    return undefined
  }
}

/** The processes below one process, also those whose parents have ended since they were first seen. */
export class Descendants {
  readonly #root: number
  #known: ReadonlyMap<number, string> = new Map()

  constructor(root: number) {
    this.#root = root
  }

  /**
   * The processes that run now. The root is not among them, nor is a process that its test has stopped: it would go on when this
   * program lets it.
   */
  now(): readonly number[] {
    const rows = table()
    const found = new Map(
      rows
        .filter(({ pid, started }) => this.#known.get(pid) === started)
        .map(({ pid, started }) => [pid, started]),
    )
    for (let before = -1; before < found.size;) {
      before = found.size
      for (const { pid, parent, started } of rows)
        if (parent === this.#root || found.has(parent)) found.set(pid, started)
    }
    this.#known = found
    const stopped = new Set(rows.filter((row) => row.stopped).map(({ pid }) => pid))
    return [...found.keys()].filter((pid) => !stopped.has(pid)).toSorted((a, b) => a - b)
  }
}
