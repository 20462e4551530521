import type { Entry } from '../kernel/log/entry.ts'

/**
 * Merges adjacent entries that stream text to the same response part or terminal (a run) into one entry. Entries with
 * another action between them are not merged, because that would change the order. The merged entry has the sequence
 * number of the last entry of its run.
 */
export function mergeRuns(entries: readonly Entry[]): Entry[] {
  const merged: Entry[] = []
  let run: Entry[] = []
  const close = () => {
    const joined = join(run)
    if (joined) merged.push(joined)
    run = []
  }
  for (const entry of entries) {
    if (run.length > 0 && !continues(run.at(-1), entry)) close()
    run.push(entry)
  }
  close()
  return merged
}

interface TextAction {
  readonly type: string
  readonly turnId?: string
  readonly partId?: string
  readonly content?: string
  readonly data?: string
  readonly _meta?: unknown
}

const mergeableTypes = new Set(['chat/delta', 'chat/reasoning', 'terminal/data'])

/** Whether an entry is streamed text of the host. Later text of the same response part or terminal can be appended to it. */
export function isMergeable({ action, origin, only }: Entry): boolean {
  return mergeableTypes.has(action.type) && origin === undefined && only === undefined
}

function continues(before: Entry | undefined, entry: Entry): boolean {
  if (!before || before.channel !== entry.channel || before.only || entry.only) return false
  const a = textOf(before)
  const b = textOf(entry)
  const plain =
    a._meta === undefined &&
    b._meta === undefined &&
    before.origin === undefined &&
    entry.origin === undefined
  return (
    plain && mergeableTypes.has(a.type) && a.type === b.type && a.turnId === b.turnId && a.partId === b.partId
  )
}

function join(run: readonly Entry[]): Entry | undefined {
  const [first] = run
  const last = run.at(-1)
  if (!first || !last || first === last) return last
  const known = joinedRuns.get(last)
  if (known?.first === first) return known.joined
  const key = last.action.type === 'terminal/data' ? 'data' : 'content'
  const whole = run.map((entry) => textOf(entry)[key] ?? '').join('')
  const action = { ...last.action, [key]: whole }
  const joined = last.withAction(action, JSON.stringify(action))
  joinedRuns.set(last, { first, joined })
  return joined
}

/** The action of an entry, typed as an action with text. Members that the action does not have are undefined. */
function textOf({ action }: Entry): TextAction {
  return action
}

/** Merged runs, by the last entry of each run. Many connections merge the same run, so the merged frame is made once. */
const joinedRuns = new WeakMap<Entry, { readonly first: Entry; readonly joined: Entry }>()
