import { hooksOf } from '../../catalog/machine.ts'
import { setupCommand } from '../agents/setup-command.ts'
import type { Core } from '../../kernel/core.ts'

/**
 * Runs the setup command in a new worktree, if a user has allowed exactly this command. Returns what users should know about
 * it, if there is anything. A command that fails leaves the worktree as it is: the agent may still work there.
 */
export async function runSetup(
  core: Core,
  { root, allowed }: { readonly root: string; readonly allowed: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const line = await setupCommand(core, root)
  if (line === undefined)
    return allowed === '' ? undefined : 'No setup command ran: the commit of the worktree names none.'
  const shown = JSON.stringify(line)
  if (allowed === '') return `The setup command ${shown} did not run: nobody has allowed it.`
  if (allowed !== line) return `The setup command ${shown} did not run: another one was allowed.`
  const hooks = hooksOf(core)
  if (!hooks) return `The setup command ${shown} did not run: this host runs no commands.`
  const { worktreeMs: timeoutMs } = core.limits
  const run = { line, cwd: root, env: {}, input: '', timeoutMs, maxLength: outputLength }
  const { exitCode, problem, stderr, stdout } = await hooks.run(run, signal)
  if (exitCode === 0) return undefined
  const reason = problem ?? `It ended with the exit code ${exitCode}.`
  const said = (stderr.trim() || stdout.trim()).slice(-outputLength)
  return `The setup command ${shown} failed. ${reason}${said === '' ? '' : `\n${said}`}`
}

const outputLength = 2000
