import { openSqlite } from '@atrium/adapters/store/sqlite'

// Reads the session list of a data folder once, as plainly as possible: reads every entry from the store, parses it
// and keeps it. Prints the milliseconds. It has a process of its own, so that the code is not compiled yet, as in a
// host that starts.
const [folder = ''] = process.argv.slice(2)
const store = await openSqlite(folder, { readOnly: true })
const began = performance.now()
const list = new Map<string, unknown>()
for (const [key, text] of await store.records.list('session/'))
  list.set(key, JSON.parse(text.slice(text.indexOf('{'))))
const time = performance.now() - began
await store.log.close()
process.stdout.write(`${JSON.stringify({ time, sessions: list.size })}\n`)
