import type { Effects } from '../../kernel/rules.ts'
import { part } from '../../kernel/part.ts'
import { Canvases, canvasesOf } from './canvases.ts'
import type { Listens } from './canvases.ts'

interface Ports {
  /** Absent: chats have no canvases. */
  readonly listens?: Listens | undefined
}

const outputEffects: Effects<'terminal'> = {
  'terminal/data': (core, { uri }, { data }) => canvasesOf(core)?.read(uri, data),
}

/** Makes a canvas in the chat for each server that a command of a tool starts. */
export const canvas = part<Canvases | undefined, Ports>({
  name: 'canvas',
  key: canvasesOf,
  open: (core, { listens }) => listens && Canvases.open(core, listens),
  rules: { effects: [outputEffects] },
  recover: (self) => self.recover(),
})
