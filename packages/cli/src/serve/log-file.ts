import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogLevel } from './config-fields.ts'

/** Lines of JSON on stderr, written at once, so that the last ones before an end are there. */
export function openLog(level: LogLevel, secrets: readonly string[], write = toStderr): Logger {
  const options = { level, base: { pid: process.pid }, redact: { paths: redacted, censor: '[secret]' } }
  return pino(options, {
    // Known names are not enough: a secret is taken out wherever it stands.
    write: (line: string) =>
      write(secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)),
  })
}

const names = ['token', 'tkn', 'authorization', 'password', 'secret', 'cookie', 'url']
const redacted = names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

function toStderr(line: string): void {
  process.stderr.write(line)
}
