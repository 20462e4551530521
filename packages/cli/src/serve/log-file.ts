import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogLevel } from './config-fields.ts'

/** Opens the log: JSON lines, written synchronously, so that the last lines before a crash are kept. */
export function openLog(level: LogLevel, secrets: readonly string[], write: (line: string) => void): Logger {
  const options = { level, base: { pid: process.pid }, redact: { paths: redacted, censor: '[secret]' } }
  return pino(options, {
    // Redaction by key is not enough: each secret is also removed from every other place of the line.
    write: (line: string) =>
      write(secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)),
  })
}

const names = ['token', 'tkn', 'authorization', 'password', 'secret', 'cookie', 'url']
const redacted = names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** Where the lines go. */
export function toStderr(line: string): void {
  process.stderr.write(line)
}
