/**
 * When a turn ended: its start plus its duration, in UTC with milliseconds. Nothing when that is no time at all,
 * or when the start names no zone and so would mean something else on every machine.
 */
export function endOf(startedAt: string, duration: number): string | undefined {
  const zoned = /(Z|[+-]\d\d:?\d\d|^\d{4}-\d\d-\d\d)$/i.test(startedAt)
  const end = new Date(zoned ? Date.parse(startedAt) + Math.trunc(Math.max(0, duration)) : NaN)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}
