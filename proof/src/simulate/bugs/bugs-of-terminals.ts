import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in terminals and their owners. */
export const terminalBugs: readonly Bug[] = [
  bug(
    'a shell starts before its terminal is durable',
    'parts/terminal/terminal',
    'await core.log.reached(created);',
    '',
  ),
  bug(
    'a running shell is not recorded as open work',
    'parts/terminal/terminal',
    'core.jobs.mark(uri, true);',
    '',
  ),
  bug('a terminal stays running after a restart', 'parts/session/recovery', 'endShell(core, channel);', ';'),
  bug(
    'the terminal list is not updated',
    'parts/terminal/terminal-list',
    '    list(core, terminal);\n}',
    '}',
  ),
  bug(
    'a new terminal is not listed',
    'parts/terminal/terminal',
    '    list(core, terminal);\n    const created',
    '    const created',
  ),
  bug('a terminal outlives its session', 'parts/session/session', 'forgetTerminal(core, part);', ';'),
  bug(
    'the session of a terminal is not recorded',
    'kernel/record-map',
    'this.#records.put(',
    "if (this.#prefix !== 'part/') this.#records.put(",
  ),
  bug(
    'terminal input is applied again after a reconnect',
    'connection/opening',
    '[...core.log.ephemeralOf(clientId), ...core.log.uncommittedOf(clientId)]',
    'core.log.uncommittedOf(clientId).filter(({ action }) => !action.includes("terminal/input"))',
  ),
]
