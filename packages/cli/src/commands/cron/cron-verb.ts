/** The row of `cron` in the table of commands. */
export const cronVerb = {
  usage: 'cron [action] [name] [words...]',
  about: 'list automations; or: add "weekdays 9:30" TEXT; log [NAME]; run, pause, resume or rm NAME',
  options: [
    ['--title <text>', 'the title (default: the first line of the text)'],
    ['--in <dir>', 'the folder of the sessions (default: this one)'],
    ['--agent <id>', 'the agent (default: the first)'],
    ['--zone <name>', 'the time zone, such as Europe/Berlin (default: that of this machine)'],
    ['--skip-late', 'run nothing if the host was away at the time'],
    ['--overlap <policy>', 'while another run is active: skip (default), queue or parallel'],
  ],
  load: async () => (await import('./cron.ts')).cron,
} as const
