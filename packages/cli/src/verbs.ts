import { cronVerb } from './commands/cron/cron-verb.ts'
import type { Verb } from './verb.ts'

/** The commands that connect to a host, in the order of the help. */
export const verbs: readonly Verb[] = [
  {
    usage: 'run [prompt...]',
    about: 'run a prompt and wait for the result; piped input is appended (atrium "…" means the same)',
    options: [
      ['--agent <id>', 'the agent (default: the first)'],
      ['--model <id>', 'the model of the agent'],
      ['--cwd <dir>', 'the working directory of the agent (default: this one)'],
      ['--session <name>', 'continue a session instead of creating one'],
      ['--timeout <seconds>', 'cancel the turn after this time'],
      ['--allow <once|session>', 'approve its tools in advance: each call, or for the session'],
      ['--no-start', 'start no host in the background if none runs'],
    ],
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    usage: 'attach [session]',
    about: 'follow a session live, and take part in it (default: the last one)',
    options: [['--turns <n>', 'the number of earlier turns to show first (default: 3)']],
    load: async () => (await import('./commands/attach.ts')).attach,
  },
  {
    usage: 'manage',
    about:
      'show all sessions on the whole screen, and take part in them (atrium alone at a terminal does the same)',
    options: [['--also <url...>', 'the sessions of these hosts, too']],
    load: async () => (await import('./manager/manage.ts')).manage,
  },
  {
    usage: 'web',
    about: 'print a link to the web page of the host, which lets one browser in',
    options: [['--phone', 'show the link as a QR code, for the camera of a phone']],
    load: async () => (await import('./commands/web/web.ts')).web,
  },
  {
    usage: 'ls',
    about: 'list the sessions',
    options: [['-a, --all', 'include archived sessions']],
    load: async () => (await import('./commands/ls.ts')).list,
  },
  {
    usage: 'search [words...]',
    about:
      'find words in the messages, answers and titles of all sessions; "two words" finds a phrase, begin* the beginning of words',
    options: [
      ['--folder <dir>', 'only sessions that work in this folder'],
      ['--agent <id>', 'only sessions with this agent'],
      ['--since <time>', 'only what is newer: 7d, 12h, 2w, or a date'],
      ['-n, --number <n>', 'the number of results (default: 20)'],
      ['--rebuild', 'build the search index again'],
    ],
    load: async () => (await import('./commands/sessions/search.ts')).search,
  },
  {
    usage: 'send <session> <text...>',
    about: 'send a message to a session (- reads it from stdin)',
    options: [
      ['--steer', 'steer the active turn instead of waiting in the queue'],
      ['-w, --wait', 'wait for the answer; the exit code tells how its turn ended'],
      ['--timeout <seconds>', 'wait at most this long'],
    ],
    load: async () => (await import('./commands/send.ts')).send,
  },
  {
    usage: 'logs [session]',
    about: 'show the turns of a session (default: the last one)',
    options: [
      ['-f, --follow', 'then show each new action'],
      ['-n, --turns <n>', 'the number of turns to show, or all (default: 10)'],
    ],
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    usage: 'history [session]',
    about: 'show the past actions of a session (default: the last one)',
    options: [
      ['--at <n>', 'show the turns as they were after action n of this list instead'],
      ['-n, --number <n>', 'the number of newest actions to show, or all (default: 50)'],
    ],
    load: async () => (await import('./commands/sessions/history.ts')).history,
  },
  {
    usage: 'cancel <session>',
    about: 'cancel the active turns of a session',
    options: [['--queued', 'remove the queued messages, too']],
    load: async () => (await import('./commands/cancel.ts')).cancel,
  },
  {
    usage: 'approve [session]',
    about: 'approve the open request of a session; without a session: list all open requests',
    options: [
      ['--option <choice>', 'once, session, folder, or another offered choice'],
      ['--edit <input>', 'run the tool with this input instead'],
      ['--call <id>', 'the request, if there are several'],
      ['--show', 'print all of what is asked, and answer nothing'],
    ],
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  {
    usage: 'deny <session>',
    about: 'deny the open request of a session',
    options: [
      ['--reason <text>', 'the reason, for the agent'],
      ['--option <choice>', 'another offered choice that denies'],
      ['--call <id>', 'the request, if there are several'],
    ],
    load: async () => (await import('./commands/approve.ts')).deny,
  },
  {
    usage: 'apply [session]',
    about: 'bring the changes of a session in a worktree into the main checkout (default: of the last one)',
    load: async () => (await import('./commands/changes/apply.ts')).apply,
  },
  {
    usage: 'fork <session>',
    about: 'create a chat that begins with the turns of another one',
    options: [['--turn <turn>', 'the last turn to copy: its id, or its number (default: -1, the last)']],
    load: async () => (await import('./commands/sessions/fork.ts')).fork,
  },
  {
    usage: 'rename <session> <title...>',
    about: 'give a session another title',
    load: async () => (await import('./commands/sessions/rename.ts')).rename,
  },
  {
    usage: 'archive <sessions...>',
    about: 'hide sessions from the list',
    options: [['--undo', 'show them again']],
    load: async () => (await import('./commands/sessions/archive.ts')).archive,
  },
  {
    usage: 'rm <sessions...>',
    about: 'delete sessions with all their turns',
    options: [['-y, --yes', 'do not ask']],
    load: async () => (await import('./commands/sessions/remove.ts')).remove,
  },
  {
    usage: 'stop',
    about: 'stop the host on this machine',
    options: [['--timeout <seconds>', 'wait at most this long (default: 30)']],
    load: async () => (await import('./commands/stop.ts')).stop,
  },
  {
    usage: 'usage',
    about: 'show the tokens and the cost of the last turns',
    options: [
      ['--by <group>', 'day, agent or folder (default: day)'],
      ['--days <n>', 'the number of days, with today (default: 30)'],
    ],
    load: async () => (await import('./commands/sessions/usage.ts')).usage,
  },
  {
    usage: 'export [session]',
    about: 'print a whole session as Markdown or JSON (default: the last one)',
    options: [['--format <format>', 'markdown or json (default: markdown)']],
    load: async () => (await import('./commands/sessions/export.ts')).exportSession,
  },
  {
    usage: 'grant [folder]',
    about: 'let clients and agents use a folder; without a folder: list all grants and permissions',
    options: [['--write', 'allow writing, too']],
    load: async () => (await import('./commands/grant.ts')).grant,
  },
  {
    usage: 'revoke <folder>',
    about: 'revoke the grant of a folder, or a permission by its id',
    load: async () => (await import('./commands/grant.ts')).revoke,
  },
  {
    usage: 'devices [action] [name]',
    about: 'list the devices that may connect to the host; or: add NAME, revoke NAME',
    options: [['--role <role>', 'watch, prompt, approve or own (default: prompt)']],
    load: async () => (await import('./commands/devices/devices.ts')).devices,
  },
  {
    usage: 'notifications [action] [value]',
    about:
      'list the notifications of the host and what became of them; targets, add URL, remove ID and test manage where they go',
    options: [['--ntfy', 'the address is a topic of an ntfy server']],
    load: async () => (await import('./commands/notifications/notifications.ts')).notifications,
  },
  cronVerb,
  {
    usage: 'pair <url> <code>',
    about: 'make this machine a device of a host, with a code from: atrium devices add NAME',
    load: async () => (await import('./commands/devices/pair.ts')).pair,
  },
  {
    usage: 'mcp <session> [server]',
    about: 'list the MCP servers of a session; with --on or --off: enable or disable one',
    options: [
      ['--on', 'let the agent use the server from the next turn on'],
      ['--off', 'keep the agent from using the server'],
    ],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    usage: 'plugins [action] [first] [second]',
    about:
      "manage the host's plugins (ls, add FOLDER, remove FOLDER); with SESSION, that session's (ls SESSION; on, off or trust SESSION NAME)",
    options: [
      ['--folder', 'decide for all sessions in the folder of this one'],
      ['--everywhere', 'decide for all sessions'],
    ],
    load: async () => (await import('./commands/plugins.ts')).plugins,
  },
  {
    usage: 'diff [session]',
    about: 'show the changes of a session, or of one of its turns',
    options: [
      ['--turn <n>', 'the changes of this turn; the first is 1, the last is -1'],
      ['--uncommitted', 'the files that differ from the last commit'],
      ['--branch', 'the changes of the branch'],
      ['--stat', 'only the paths and the numbers of lines'],
    ],
    load: async () => (await import('./commands/changes/diff.ts')).diff,
  },
  {
    usage: 'undo [session] [files...]',
    about: 'undo the changes of a turn; files that others may have changed since are left alone',
    options: [
      ['--turn <n>', 'the turn; the first is 1, the last is -1 (the default)'],
      ['--copy', 'set back the files that others may have changed, too, and keep a copy of each beside it'],
      ['--force', 'set them back without a copy'],
      ['--keep', 'leave them as they are, and list them no more'],
      ['--redo', 'do again what an undo has taken back'],
      ['--dry-run', 'only say what would happen'],
    ],
    load: async () => (await import('./commands/changes/undo.ts')).undo,
  },
  {
    usage: 'commit [session] [files...]',
    about: 'commit files of a session; without FILES: what is staged, else all uncommitted files',
    options: [['-m, --message <text>', 'the message of the commit']],
    load: async () => (await import('./commands/changes/commit.ts')).commit,
  },
  {
    usage: 'comments [session] [action] [words...]',
    about:
      'list the comments on the files of a session; or: add FILE:LINE TEXT, reply ID TEXT, resolve ID, reopen ID, remove ID',
    options: [['-a, --all', 'include resolved comments']],
    load: async () => (await import('./commands/changes/comments.ts')).comments,
  },
  {
    usage: 'agents',
    about: 'list the agents of the host',
    options: [['--check', 'start each agent and ask for its models and required sign-ins']],
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  {
    usage: 'login [name]',
    about:
      'sign in to an agent, an MCP server or a resource; the token is asked for, or comes from stdin; without NAME: list what asks for a sign-in',
    options: [
      ['--session <session>', 'the MCP servers of this session, too'],
      ['--token', 'give a token, also where a browser could sign in'],
      ['--out', 'sign out'],
    ],
    load: async () => (await import('./commands/login/login.ts')).login,
  },
  {
    usage: 'config [key] [value]',
    about: 'list the settings of the host, show one, or change one',
    options: [['--unset', 'reset the setting']],
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    usage: 'doctor',
    about: 'check the machine and the host, and say how to fix problems',
    options: [
      ['--disk', 'show what takes the space in the data folder instead'],
      ['--clients', 'list the connected clients, and what each cannot see in its version of AHP'],
    ],
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    usage: '__names',
    about: 'print the names of the sessions',
    hidden: true,
    load: async () => (await import('./commands/names.ts')).names,
  },
]
