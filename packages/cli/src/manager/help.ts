import type { Help } from '../live/help.ts'

/** The keys of the session manager. */
export const managerHelp: Help = [
  ['↑ ↓ j k', 'choose a session; so do a click, the wheel, Page Up, Page Down, Home and End'],
  ['Enter', 'open it: follow it live and take part; Ctrl-D comes back to the list'],
  ['y s a n r', 'answer the question that is shown: once, this session, always, no, no because'],
  ['n', 'begin a new session in this folder; Tab chooses the agent'],
  ['/', 'show only sessions with these words in title, folder, agent or host; Esc shows all'],
  ['d', 'show what the session has changed'],
  ['u', 'undo the changes of its last turn'],
  ['t', 'open a terminal in its folder; Ctrl-] comes back to the list'],
  ['c', 'cancel its active turn'],
  ['R', 'rename it'],
  ['x, A', 'archive it, or bring it back; show archived sessions, too'],
  ['Ctrl-Z', 'stop this command until `fg`'],
  ['q, Ctrl-D', 'leave; the sessions go on'],
]
