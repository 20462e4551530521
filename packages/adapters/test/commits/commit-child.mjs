import childProcess from 'node:child_process'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

// Commits a file, and kills itself before its n-th change. A change is a change of the disk, or a run of git that changes the
// repository.

const { MODULE, FOLDER, DIRECTORY, HOME, KILL_AT } = process.env
const last = Number(KILL_AT)
let changes = 0
let counting = false

function countIn(object, names, counts = () => true) {
  for (const name of names) {
    const real = object[name]
    object[name] = function (...args) {
      if (counting && counts(args) && ++changes === last) process.kill(process.pid, 'SIGKILL')
      return real.apply(this, args)
    }
  }
}

countIn(promises, ['copyFile', 'link', 'mkdir', 'rename', 'rm', 'symlink', 'utimes', 'writeFile'])
const changing = ['update-index', 'write-tree', 'commit-tree', 'update-ref']
countIn(childProcess, ['spawn'], ([, args]) => changing.some((command) => args.includes(command)))
syncBuiltinESMExports()

const { gitCommits } = await import(MODULE)
const commits = gitCommits({ folder: FOLDER, user: { home: HOME, configHome: HOME } })
counting = true
await commits.commit(DIRECTORY, { message: 'by the host', paths: ['a'] })
process.stdout.write(String(changes))
