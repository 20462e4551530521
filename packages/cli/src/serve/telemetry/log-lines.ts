import { logLevels } from '@atrium/host/telemetry'
import type { LogLevel, LogLine } from '@atrium/host/telemetry'

/** The lines of the log for telemetry: what has gone to stderr, after its secrets were taken out. */
export class LogLines {
  readonly #listeners = new Set<(line: LogLine) => void>()

  readonly listen = (listener: (line: LogLine) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Takes a line as JSON, as the log writes it. */
  readonly write = (json: string): void => {
    if (this.#listeners.size === 0) return
    const line = lineOf(json)
    for (const listener of this.#listeners) listener(line)
  }
}

/** The members of a line that the library of the log writes; the others are those of the caller. */
interface Written {
  readonly level: number
  readonly time: number
  readonly pid?: number
  readonly msg?: string
  readonly err?: { readonly type?: string; readonly message?: string }
  readonly detail?: unknown
}

function lineOf(json: string): LogLine {
  // The library of the log has just made this text.
  const { level, time, pid: _, msg, err, detail, ...rest } = JSON.parse(json) as Written
  const others = Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : []
  const details = [detail, err?.message].flatMap((each) =>
    each === undefined ? [] : [typeof each === 'string' ? each : JSON.stringify(each)],
  )
  return { at: time, level: levelOf(level), text: [msg, ...details, ...others].filter(Boolean).join(': ') }
}

/** The levels of the log are 10, 20 and so on. */
function levelOf(level: number): LogLevel {
  return logLevels[Math.min(logLevels.length, Math.max(1, Math.round(level / 10))) - 1] ?? 'info'
}
