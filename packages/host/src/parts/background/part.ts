import { part } from '../../kernel/part.ts'
import { Background, backgroundOf } from './background.ts'

/** Work of chats that runs on after their turns. */
export const background = part<Background>({
  name: 'background',
  key: backgroundOf,
  open: (core) => Background.open(core),
  recover: (self) => self.recover(),
})
