import childProcess from 'node:child_process'
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

// Applies a worktree, and kills itself before its n-th change of the checkout, its repository, the journal or the record.
// Changes in temporary folders do not count. If n is `part`, the process kills itself before it writes the first new file,
// which is a temporary file beside its target.

const { MODULE, FOLDER, MAIN, HOME, KILL_AT } = process.env
const watched = [`${MAIN}/`, `${FOLDER}/one`]
const changing = ['checkout-index', 'read-tree', 'update-index', 'update-ref']
let changes = 0

function count(path = '') {
  const isPart = path.startsWith(`${MAIN}/.atrium-`)
  if (String(++changes) === KILL_AT || (isPart && KILL_AT === 'part')) process.kill(process.pid, 'SIGKILL')
}

function countIn(object, names) {
  for (const name of names) {
    const real = object[name]
    object[name] = function (...args) {
      const path = args
        .slice(0, 2)
        .find((each) => typeof each === 'string' && watched.some((folder) => each.startsWith(folder)))
      if (path !== undefined) count(path)
      return real.apply(this, args)
    }
  }
}

countIn(promises, ['copyFile', 'mkdir', 'rename', 'rm', 'rmdir', 'symlink'])
countIn(fs, ['renameSync', 'unlinkSync'])
const { spawn } = childProcess
childProcess.spawn = (program, args, options) => {
  if (args.some((each) => changing.includes(each))) count()
  return spawn(program, args, options)
}
syncBuiltinESMExports()

const { gitWorktrees } = await import(MODULE)
const worktrees = gitWorktrees({ folder: FOLDER, user: { home: HOME, configHome: HOME } })
process.stdout.write(JSON.stringify(await worktrees.apply('one')))
