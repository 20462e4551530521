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
  'list',
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

/**
 * `links`: little is said in chats. `people`: much is. `windows`: clients have the newest turns only, of which there are many,
 * and take them away. `births`: sessions, chats and workers come and go. `nights`: nobody looks, and what is there falls
 * asleep. `homes`: chats are forked, and move between sessions. `decisions`: agents ask, and people and clients answer.
 */
export type Theme = 'links' | 'people' | 'windows' | 'births' | 'nights' | 'homes' | 'decisions'

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
  /** One of so many things that the disk does is the end of a flush. */
  readonly flushes: number
  /** What it is about: without that, what is rare would hardly ever meet. */
  readonly theme: Theme
  /** Something is there already when it begins. */
  readonly prologue: 'none' | 'alone' | 'followed'
  /** The host is one of others: it does not say that what was sent may be sent again, and answers are overtaken. */
  readonly bare: boolean
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
  list: 2,
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

const themes: readonly Theme[] = [
  'links',
  'links',
  'decisions',
  'people',
  'windows',
  'births',
  'nights',
  'homes',
]

/** How much more often each happens. What a theme is about is never left out. */
const more: { readonly [T in Theme]: { readonly [N in OpName]?: number } } = {
  links: { cut: 2, open: 2, agent: 2, crash: 2, backup: 3, restore: 4 },
  people: { agent: 2 },
  windows: { subscribe: 2, fetch: 4, cut: 2, open: 2 },
  births: { create: 4, dispose: 4, chat: 6, list: 3, ghost: 2 },
  nights: { tick: 4, ghost: 4, subscribe: 0, agent: 0 },
  decisions: {
    agent: 3,
    dispatch: 3,
    deliver: 3,
    disk: 4,
    crash: 1,
    open: 3,
    cut: 0.7,
    tick: 1,
    ghost: 3,
    create: 0.3,
    dispose: 0.3,
    late: 0.3,
    subscribe: 0.3,
    list: 0,
    fetch: 0,
    break: 0,
    full: 0,
    stop: 0.3,
  },
  homes: {
    chat: 20,
    deliver: 3,
    disk: 4,
    cut: 0.5,
    open: 0.5,
    late: 0.5,
    dispatch: 0.3,
    dispose: 0.5,
    ghost: 2,
  },
}

/** These are in every plan: without them nothing happens. */
const needed: readonly OpName[] = ['deliver', 'disk', 'open', 'dispatch', 'create', 'agent', 'subscribe']

/** A plan from a seed. Each leaves some of the faults out, because too many at once hide one another. */
export function planOf(seed: number, length = 120): Plan {
  const chance = new Chance(seed)
  const theme = chance.pick(themes) ?? 'links'
  const weights = opNames.map((name) => {
    const often = Math.round((more[theme][name] ?? 1) * usual[name])
    const left = !needed.includes(name) && more[theme][name] === undefined && chance.oneIn(3)
    return left ? 0 : often * (1 + chance.below(4))
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
    theme,
    weight: chance.pick([1, 200, 2000]) ?? 1,
    flushes: chance.pick([2, 2, 6]) ?? 2,
    prologue: prologueOf(theme, chance),
    bare: chance.oneIn(4),
    ops,
  }
}

function prologueOf(theme: Theme, chance: Chance): Plan['prologue'] {
  if (theme === 'nights') return 'alone'
  return ['windows', 'homes', 'decisions'].includes(theme)
    ? 'followed'
    : (chance.pick(['none', 'alone', 'followed', 'followed']) ?? 'none')
}

function drawn(weights: readonly number[], at: number): OpName {
  let left = at
  const found = weights.findIndex((weight) => (left -= weight) < 0)
  return opNames[found] ?? 'deliver'
}
