import { Chance } from '../chance.ts'

/** What can happen. Each is tried, and comes to nothing where it makes no sense: so any part of a plan is a plan. */
const opNames = [
  'deliver',
  'disk',
  'tick',
  'open',
  'cut',
  'late',
  'dispatch',
  'subscribe',
  'unsubscribe',
  'create',
  'dispose',
  'chat',
  'fetch',
  'agent',
  'ghost',
  'crash',
  'backup',
  'restore',
  'stop',
  'full',
  'break',
] as const
export type OpName = (typeof opNames)[number]

export interface Op {
  readonly name: OpName
  /** Everything about it that is left to chance. */
  readonly dice: number
}

export interface Plan {
  readonly seed: number
  readonly clients: number
  /** A head is written after so many actions. */
  readonly headEvery: number
  /** So many turns of a chat are in memory when it wakes. */
  readonly tail: number
  /** One of the clients speaks 0.9. */
  readonly old: boolean
  /** Each byte that waits on a link weighs so much: some links are narrow. */
  readonly weight: number
  /** Something is there already when it begins. */
  readonly prologue: 'none' | 'alone' | 'followed'
  readonly ops: readonly Op[]
}

/** How often each happens in a run where all can. */
const usual: { readonly [N in OpName]: number } = {
  deliver: 30,
  disk: 16,
  tick: 5,
  open: 7,
  cut: 4,
  late: 8,
  dispatch: 24,
  subscribe: 5,
  unsubscribe: 2,
  create: 5,
  dispose: 2,
  chat: 2,
  fetch: 3,
  agent: 24,
  ghost: 5,
  crash: 3,
  backup: 1,
  restore: 1,
  stop: 1,
  full: 1,
  break: 1,
}

/** These are in every plan: without them nothing happens. */
const needed: readonly OpName[] = ['deliver', 'disk', 'open', 'dispatch', 'create', 'agent', 'subscribe']

/** A plan from a seed. Each leaves some of the faults out, because too many at once hide one another. */
export function planOf(seed: number, length = 120): Plan {
  const chance = new Chance(seed)
  const weights = opNames.map((name) => {
    const left = !needed.includes(name) && chance.oneIn(3)
    return left ? 0 : usual[name] * (1 + chance.below(4))
  })
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const ops = Array.from({ length }, () => ({
    name: drawn(weights, chance.below(whole)),
    dice: chance.next(),
  }))
  return {
    seed,
    clients: 2 + chance.below(3),
    headEvery: chance.pick([2, 5, 20]) ?? 5,
    tail: chance.pick([1, 2, 50]) ?? 50,
    old: chance.oneIn(2),
    weight: chance.pick([1, 200, 2000]) ?? 1,
    prologue: chance.pick(['none', 'alone', 'followed', 'followed']) ?? 'none',
    ops,
  }
}

function drawn(weights: readonly number[], at: number): OpName {
  let left = at
  const found = weights.findIndex((weight) => (left -= weight) < 0)
  return opNames[found] ?? 'deliver'
}
