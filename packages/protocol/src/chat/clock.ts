/**
 * The end of a turn: its start plus its duration, in UTC with milliseconds. Returns `undefined` if the start is not a
 * valid time, or has no time zone and so means a different time on each machine.
 */
export function endOf(startedAt: string, duration: number): string | undefined {
  const zoned = /(Z|[+-]\d\d:?\d\d|^\d{4}-\d\d-\d\d)$/i.test(startedAt)
  const end = new Date(zoned ? Date.parse(startedAt) + Math.trunc(Math.max(0, duration)) : NaN)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}
