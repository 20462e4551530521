import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findProgram } from '@atrium/adapters/process/which'
import { configPath, configure } from '../serve/config.ts'
import type { Settings } from '../serve/config-fields.ts'
import { sentenceOf } from '../terminal/exit.ts'
import { version } from '../terminal/version.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Checks the machine. No host needs to run. */
export async function machineFindings({ data, notifications }: Settings): Promise<readonly Finding[]> {
  return [
    nodeFinding(),
    await dataFinding(data),
    await spaceFinding(data),
    await shellFinding(),
    await gitFinding(),
    accessFinding(),
    pushFinding(notifications?.contact),
  ]
}

/** States whom push services can tell about problems. Apple refuses pushes without a contact. */
function pushFinding(contact: string | undefined): Finding {
  return ok(
    'push',
    contact === undefined
      ? 'no contact for push services: Apple refuses pushes unless the page has a public https address, or the config file has notifications.contact'
      : `push services are told ${contact}`,
  )
}

/** States what a token allows (SECURITY.md), because no other finding says it. */
function accessFinding(): Finding {
  return ok(
    'access',
    'whoever has the token may open and grant any folder; agents run as your user and can read its files, the token included',
  )
}

const oldestNode = 20

function nodeFinding(major = Number(process.versions.node.split('.')[0])): Finding {
  const detail = `atrium ${version} on Node ${process.versions.node}`
  return major >= oldestNode
    ? ok('node', detail)
    : fail('node', detail, `install Node ${oldestNode} or newer: https://nodejs.org`)
}

/** Checks the settings, and returns them if they are valid: the other checks need the data folder. */
export async function settingsFinding(
  data: string | undefined,
): Promise<{ finding: Finding; settings?: Settings }> {
  try {
    const { settings, warnings } = await configure({ ...(data !== undefined && { data }) }, process.env)
    const [first] = warnings
    const path = configPath(process.env)
    if (first !== undefined) return { settings, finding: warn('settings', first, `edit ${path}`) }
    const there = await access(path).then(
      () => true,
      () => false,
    )
    return {
      settings,
      finding: ok('settings', there ? path : `no file, so the defaults hold; yours would be ${path}`),
    }
  } catch (error) {
    return { finding: fail('settings', sentenceOf(error), 'correct the setting that it names') }
  }
}

async function dataFinding(data: string): Promise<Finding> {
  const found = await stat(data).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error)
    return found.code === 'ENOENT'
      ? ok('data', `${data} is created at the first start`)
      : fail(
          'data',
          `${data} cannot be accessed (${found.code})`,
          'check the permissions of its parent folders',
        )
  if (!found.isDirectory())
    return fail('data', `${data} is no folder`, 'move it away, or name another with --data')
  const me = process.getuid?.()
  if (me !== undefined && found.uid !== me)
    return fail('data', `${data} belongs to another user`, `run: sudo chown -R "$(id -un)" '${data}'`)
  if (me !== undefined && (found.mode & 0o077) !== 0)
    return fail('data', `${data} can be read by others`, `run: chmod 700 '${data}'`)
  const writable = await access(data, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  return writable ? ok('data', data) : fail('data', `${data} cannot be written`, `run: chmod 700 '${data}'`)
}

const mebibyte = 1024 * 1024

/** Checks the free space of the folder, or of its nearest existing parent. */
async function spaceFinding(data: string): Promise<Finding> {
  const found = await statfs(data).catch(() => undefined)
  if (!found) {
    const above = dirname(data)
    return above === data
      ? warn('disk', 'the free space is unknown', 'check with: df -h')
      : spaceFinding(above)
  }
  const free = Math.floor((Number(found.bavail) * Number(found.bsize)) / mebibyte)
  const detail = free >= 10 * 1024 ? `${Math.floor(free / 1024)} GiB free` : `${free} MiB free`
  const mend = 'free some space: on a full disk a host refuses all changes, and does not start'
  if (free < 100) return fail('disk', detail, mend)
  return free < 1024 ? warn('disk', detail, mend) : ok('disk', detail)
}

async function shellFinding(): Promise<Finding> {
  const candidates = [process.env['SHELL'], '/bin/bash', '/bin/sh'].filter((path) => path?.startsWith('/'))
  for (const path of candidates)
    if (
      path !== undefined &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return ok('shell', path)
  return warn('shell', 'none was found, so there are no terminals', 'install bash, or set SHELL')
}

async function gitFinding(): Promise<Finding> {
  const path = await findProgram('git', process.env['PATH'] ?? '')
  return path === undefined
    ? warn('git', 'none was found, so changes are not shown, undone or committed', 'install git')
    : ok('git', path)
}
