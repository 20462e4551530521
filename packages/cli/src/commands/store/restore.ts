import { configure } from '../../serve/config.ts'
import { CommandError, exits, sentenceOf } from '../../terminal/exit.ts'

/** The flags of the command. */
export interface RestoreFlags {
  readonly data?: string
  readonly json?: boolean
}

/** `atrium restore`: brings the sessions in a copy of a data folder back. The host must not run. */
export async function restoreStore(copy: string, { data, json }: RestoreFlags): Promise<void> {
  const { settings } = await configure(data === undefined ? {} : { data }, process.env)
  if (settings.store !== undefined)
    throw new CommandError(
      'The sessions of this host are in a database; restore it with the tools of PostgreSQL, or name a data folder with --data.',
      exits.usage,
    )
  const { RestoreRefused, restoreSqlite } = await import('@atrium/adapters/store/sqlite/restore')
  const restored = await restoreSqlite(copy, settings.data).catch((error: unknown) => {
    const nothing = error instanceof RestoreRefused ? ' Nothing was changed.' : ''
    throw new CommandError(`${sentenceOf(error)}${nothing}`)
  })
  if (json) return void process.stdout.write(`${JSON.stringify(restored)}\n`)
  const { sessions, damaged, incomplete, boundKnown, aside } = restored
  const lines = [
    `Restored ${sessions} ${sessions === 1 ? 'session' : 'sessions'} from ${copy} into ${settings.data}, and read all of them back.`,
    ...(damaged.length > 0 ? [`Damaged in the copy, and shown as such: ${damaged.join(', ')}`] : []),
    ...(incomplete
      ? ['The copy itself lacks changes that its host had confirmed: its journal is missing or damaged.']
      : []),
    ...(boundKnown
      ? []
      : [
          'The numbers of the actions after the copy are unknown; new ones begin above the time of this machine. Check that its clock is right before you start the host.',
        ]),
    ...(aside === undefined
      ? []
      : [`What was there is in ${aside}. Delete it when you do not need it any more.`]),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
