import { commentingOf } from '../../catalog/commenting.ts'
import type { Commenting } from '../../catalog/commenting.ts'
import { part } from '../../kernel/part.ts'
import { agentComments } from './agent-comments.ts'
import { annotationsCommitted, annotationsFollowUps } from './annotations.ts'
import { isSameNote, withAuthor } from './author.ts'
import { annotationsText } from './excerpt.ts'
import { filesChosen, watchFiles } from './file-follower.ts'
import { followTexts } from './followed-files.ts'
import { annotationsGuards } from './guards.ts'

/** Comments on files. */
export const annotations = part({
  name: 'annotations',
  key: commentingOf,
  open: (core): Commenting => ({
    forAgent: agentComments,
    text: (principal, attached) => annotationsText(core, principal, attached),
    followTexts: (session) => followTexts(core, session),
  }),
  rules: {
    guards: [annotationsGuards],
    resends: [isSameNote],
    completions: [(_, channel, action, by) => withAuthor(channel, action, by)],
    followUps: { annotations: annotationsFollowUps },
    subscribed: { annotations: watchFiles },
    committed: {
      annotations: (core, channel, { origin }) => {
        annotationsCommitted(core, channel)
        // An entry without an origin comes from the host. Either the host has moved comments after a change of the files,
        // or an agent has commented. For an agent's comment, `agent-comments.ts` calls `filesChosen` itself.
        if (origin) filesChosen(core, channel)
      },
    },
  },
})
