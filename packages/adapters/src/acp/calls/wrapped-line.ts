import { fieldsOf } from '../process/schema.ts'
import type { Fields } from '../process/schema.ts'

/**
 * Returns the command line inside the wrapper that Kimi puts around each line: `bash -c "cd 'FOLDER' && LINE"` with
 * four variables. Users saw and approved only LINE. So the wrapper must be exactly this one: FOLDER is the folder of
 * the session in single quotes, and the list has each variable once, with its known value. Returns undefined for any
 * other command (S-39: an approval covers the shown text and no other).
 */
export function wrappedLine({ command, args, env }: Fields, folder: string): string | undefined {
  if (typeof command !== 'string' || !shells.has(command)) return undefined
  if (!Array.isArray(args) || args.length !== 2 || args[0] !== '-c') return undefined
  const [, script]: readonly unknown[] = args
  const prefix = `cd '${folder.replaceAll("'", "'\\''")}' && `
  if (typeof script !== 'string' || !script.startsWith(prefix)) return undefined
  const line = script.slice(prefix.length)
  return line.trim() !== '' && areKnown(env, { ...variables, SHELL: command }) ? line : undefined
}

/** Whether a list has each of these variables once, with this value, and no other. */
function areKnown(env: unknown, known: Readonly<Record<string, string>>): boolean {
  if (!Array.isArray(env) || env.length !== Object.keys(known).length) return false
  const given = new Map(env.map(fieldsOf).map(({ name, value }) => [name, value]))
  return Object.entries(known).every(([name, value]) => given.get(name) === value)
}

/** Variables that keep a program from asking at a terminal and from colouring its output. They change nothing else. */
const variables = { NO_COLOR: '1', TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' }

const shells: ReadonlySet<string> = new Set(['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'])
