/** An operation of a client on a register. A write without an answer may take effect at any later time, or never. */
export interface Operation {
  readonly kind: 'write' | 'read'
  readonly value: string
  /** When it was asked for, and when its answer arrived. */
  readonly from: number
  readonly to: number
}

/**
 * Whether the operations on a register could have happened one at a time, each between its request and its answer. Each value
 * has been written once, so it is enough to look at the time in which each value must have been there (Gibbons and Korach, 1997).
 * Returns what contradicts it.
 */
export function contradiction(history: readonly Operation[]): string | undefined {
  const zones = [...new Set(history.map(({ value }) => value))].map((value) => zoneOf(value, history))
  const early = zones.find(({ isEarly }) => isEarly)
  if (early) return `${early.value} was read before it was written`
  // These values were certainly there from one time to a later one.
  const held = zones.filter(({ first, last }) => first < last).toSorted((a, b) => a.first - b.first)
  for (const [at, zone] of held.entries()) {
    const before = held[at - 1]
    if (before && zone.first < before.last)
      return `${before.value} was read after ${zone.value} had replaced it`
  }
  for (const zone of zones.filter(({ first, last }) => first >= last)) {
    const around = held.find(({ first, last }) => first < zone.last && zone.first < last)
    if (around) return `${zone.value} was there and gone while ${around.value} was there`
  }
  return undefined
}

interface Zone {
  readonly value: string
  /** The earliest answer and the latest request that concern the value. */
  readonly first: number
  readonly last: number
  readonly isEarly: boolean
}

function zoneOf(value: string, history: readonly Operation[]): Zone {
  const all = history.filter((operation) => operation.value === value)
  const written = all.find(({ kind }) => kind === 'write')?.from ?? -Infinity
  return {
    value,
    first: Math.min(...all.map(({ to }) => to)),
    last: Math.max(...all.map(({ from }) => from)),
    isEarly: all.some(({ kind, to }) => kind === 'read' && to < written),
  }
}
