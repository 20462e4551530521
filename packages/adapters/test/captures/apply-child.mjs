import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

// Applies edits of one or several folders, and kills itself before its n-th change of the disk. A kill before a change is also a kill after the previous
// change.

const { MODULE, FOLDER, GROUPS, HOME, KILL_AT } = process.env
const last = Number(KILL_AT)
let changes = 0
let counting = false

function countIn(object, names) {
  for (const name of names) {
    const real = object[name]
    object[name] = function (...args) {
      if (counting && ++changes === last) process.kill(process.pid, 'SIGKILL')
      return real.apply(this, args)
    }
  }
}

const handle = await promises.open(MODULE)
countIn(Object.getPrototypeOf(handle), ['writeFile', 'chmod', 'chown', 'sync'])
await handle.close()
countIn(promises, ['open', 'mkdir', 'rename', 'rm', 'rmdir', 'symlink', 'unlink', 'writeFile'])
countIn(fs, ['renameSync', 'unlinkSync'])
syncBuiltinESMExports()

const { gitCaptures } = await import(MODULE)
const captures = gitCaptures({ folder: FOLDER, user: { home: HOME, configHome: HOME } })
// Bytes are arrays of numbers in JSON.
const withBytes = (_, value) =>
  Array.isArray(value?.bytes) ? { ...value, bytes: Uint8Array.from(value.bytes) } : value
const groups = JSON.parse(GROUPS, withBytes)
counting = true
const applied = await captures.applyAll(groups)
process.stdout.write(JSON.stringify({ applied, changes }))
