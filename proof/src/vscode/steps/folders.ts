import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../agents/failure.ts'
import { announced, called } from '../frame.ts'
import type { Step } from '../step.ts'

/** Windows on other folders than the first. */
export const folders: readonly Step[] = [
  {
    name: 'the working directory of a session is the folder of the window',
    async run({ window, work, tap, atrium }) {
      await window.chat.fresh()
      const mark = tap.mark
      await window.chat.send('run pwd')
      await window.chat.decide('Allow once')
      const { message } = await tap.frame(announced('chat/toolCallComplete'), mark)
      must(JSON.stringify(message).includes(work), `the command ran elsewhere: ${JSON.stringify(message)}`)
      const { workingDirectories = [] } = await atrium.session('run pwd')
      must(workingDirectories.join() === `file://${work}`, `it works in ${workingDirectories.join()}`)
    },
  },
  {
    name: 'a workspace of two folders',
    async run(stage) {
      const { folder, tap } = stage
      const [one, two] = [join(folder, 'one'), join(folder, 'two')]
      for (const each of [one, two]) {
        mkdirSync(each)
        stage.project(each)
      }
      const file = join(folder, 'both.code-workspace')
      writeFileSync(file, JSON.stringify({ folders: [{ path: one }, { path: two }] }))
      const window = await stage.open('workspace', `workspace=${file}`)
      try {
        const mark = tap.mark
        await window.chat.turn('say in two folders', 'in two folders')
        await window.list.row('say in two folders')
        const { message } = await tap.frame(called('createSession'), mark)
        const text = JSON.stringify(message)
        must(text.includes(`file://${one}`), `the session does not work in the first folder: ${text}`)
      } finally {
        await window.picture(`${stage.out}/two-folders.png`)
        await stage.close(window)
      }
    },
  },
  {
    name: 'a remote window names its working directories by file URIs',
    async run({ window, tap }) {
      // Every window is remote: its folder is on the machine of the workbench's server. Within the window, the URI of
      // this folder does not have the scheme `file`.
      const mark = tap.mark
      await window.chat.turn('say from a remote folder', 'from a remote folder')
      const { message } = await tap.frame(called('createSession'), mark)
      const directories = message?.params?.['workingDirectories']
      const ok = Array.isArray(directories) && directories.every((uri) => String(uri).startsWith('file:///'))
      must(ok, `the session works in ${JSON.stringify(directories)}`)
    },
  },
]
