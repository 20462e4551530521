import type { JsonObject } from '@atrium/protocol/json'
import { logLevels } from './port.ts'
import type { LogLevel, LogLine } from './port.ts'
import { attributesOf, nanos } from './otlp.ts'

/** The lowest severity number of each level in OTLP. */
const severities: { readonly [L in LogLevel]: number } = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
}

/** A level by its name, in any case. */
export function levelNamed(name: string): LogLevel | undefined {
  return logLevels.find((level) => level === name.toLowerCase())
}

/** Whether a line is at least as severe as a level. */
export function reaches({ level }: LogLine, least: LogLevel): boolean {
  return severities[level] >= severities[least]
}

/** A line of the log. Its text is cut at `most` characters. */
export function logRecord({ at, level, text }: LogLine, most: number): JsonObject {
  const cut = text.length > most
  return {
    timeUnixNano: nanos(at),
    observedTimeUnixNano: nanos(at),
    severityNumber: severities[level],
    severityText: level.toUpperCase(),
    body: { stringValue: cut ? `${text.slice(0, most)}…` : text },
    ...(cut && { attributes: attributesOf({ 'ahp.log.length': text.length }) }),
  }
}

/** The record that takes the place of lines that a slow reader has missed. */
export function lostRecord(at: number, lost: number): JsonObject {
  const lines = lost === 1 ? '1 line is' : `${lost} lines are`
  return logRecord({ at, level: 'warn', text: `${lines} missing here: this reader was too slow` }, 200)
}
