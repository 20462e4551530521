/** A time zone: how far its clocks are ahead of UTC. */
export interface Zone {
  /** In milliseconds, at an instant. */
  offset(at: number): number
}

/** The zones that were asked for. The map is emptied when names in many spellings have filled it. */
const zones = new Map<string, Zone>()
const mostZones = 1000

/** Returns the time zone with an IANA name, by the rules of the platform. Undefined if there is none. */
export function zoneNamed(name: string): Zone | undefined {
  const known = zones.get(name)
  if (known) return known
  // Newer platforms accept an offset, which is no name of a zone.
  if (!/^[A-Za-z]/.test(name)) return undefined
  const format = formatOf(name)
  if (!format) return undefined
  const zone: Zone = {
    offset(at) {
      const minute = Math.floor(at / 60_000) * 60_000
      const [month = 1, day = 1, year = 1970, hour = 0, minutes = 0, seconds = 0] = (
        format.format(minute).match(/\d+/g) ?? []
      ).map(Number)
      return Date.UTC(year, month - 1, day, hour, minutes, seconds) - minute
    },
  }
  if (zones.size >= mostZones) zones.clear()
  zones.set(name, zone)
  return zone
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const two = '2-digit'
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    })
  } catch {
    return undefined
  }
}
