import { authorOf } from '@atrium/protocol/annotations/own'
import type { Annotation } from '@atrium/protocol/annotations/state'
import { describe, expect, test } from 'vitest'
import {
  annotated,
  note,
  range,
  send,
  session,
  set,
  stateOf,
  uri,
} from '../../../test/annotated/annotated.ts'

describe('[H30] an action on annotations is refused', () => {
  test.each<[string, { readonly type: string }, RegExp]>([
    [
      'an unknown id',
      { type: 'annotations/removed', annotationId: 'nx' } as never,
      /there is no annotation "nx"/,
    ],
    [
      'an unknown id',
      { type: 'annotations/updated', annotationId: 'nx', resolved: true } as never,
      /no annotation "nx"/,
    ],
    [
      'an unknown entry',
      { type: 'annotations/entryRemoved', annotationId: 'n1', entryId: 'ex' } as never,
      /no entry "ex"/,
    ],
    [
      'the removal of the last entry',
      { type: 'annotations/entryRemoved', annotationId: 'n1', entryId: 'e1' } as never,
      /at least one entry/,
    ],
    ['no entry', set(note('n2', { entries: [] })), /at least one entry/],
    [
      'an entry twice',
      set(
        note('n2', {
          entries: [
            { id: 'e', text: '' },
            { id: 'e', text: '' },
          ],
        }),
      ),
      /the same id/,
    ],
    ['another session', set(note('n2', { origin: { session: 's:/2' } })), /another session/],
    [
      'a chat of another session',
      set(note('n2', { origin: { session, chat: 'ahp-chat:/x' } })),
      /no such chat/,
    ],
    ['a file out of reach', set(note('n2', { resource: 'file:///etc/passwd' })), /must be granted first/],
    ['a path upwards', set(note('n2', { resource: 'file:///w/../etc/passwd' })), /./],
    ['no URI', set(note('n2', { resource: 'a.txt' })), /is a URI/],
    [
      'a range backwards',
      set(note('n2', { range: { start: range.end, end: range.start } })),
      /ends before it starts/,
    ],
    [
      'a move out of reach',
      { type: 'annotations/updated', annotationId: 'n1', resource: 'file:///etc/passwd' } as never,
      /granted/,
    ],
  ])('[H30.2] for %s, and nothing changes', async (_, action, reason) => {
    const { ann } = await annotated()
    await send(ann, set(note('n1')))
    const before = stateOf(ann)
    expect(await send(ann, action)).toMatch(reason)
    expect(stateOf(ann)).toEqual(before)
  })

  test('[S-57 annotations] at 500 annotations a session has room, and their entries can change', async () => {
    const { ann } = await annotated()
    for (let n = 1; n < 500; n++) ann.dispatch(uri, set(note(`n${n}`)))
    expect(await send(ann, set(note('n500')))).toBeUndefined()
    expect(await send(ann, set(note('n500', { resolved: true })))).toBeUndefined()
  })

  test('[S-57 annotations] past 500 annotations a new one is refused until one is removed', async () => {
    const { ann } = await annotated()
    for (let n = 1; n <= 500; n++) ann.dispatch(uri, set(note(`n${n}`)))
    expect(await send(ann, set(note('n501')))).toMatch(/at most 500 annotations/)
    expect(await send(ann, { type: 'annotations/removed', annotationId: 'n1' } as never)).toBeUndefined()
    expect(await send(ann, set(note('n501')))).toBeUndefined()
  })

  /** An entry that makes the annotation as long as given, once the host has added the author. */
  const filling = (length: number) => {
    const bare = JSON.stringify(note('n1', { entries: [{ id: 'e1', text: '' }] })).length
    return { id: 'e1', text: 'x'.repeat(length - bare) }
  }

  test('[S-57 annotationLength] at 32,768 characters an annotation is accepted', async () => {
    const { ann } = await annotated()
    expect(await send(ann, set(note('n1', { entries: [filling(32_768)] })))).toBeUndefined()
  })

  test('[S-57 annotationLength] past 32,768 characters an annotation is refused, and so is a further entry', async () => {
    const { ann } = await annotated()
    expect(await send(ann, set(note('n1', { entries: [filling(32_769)] })))).toMatch(
      /at most 32768 characters/,
    )
    expect(await send(ann, set(note('n1', { entries: [filling(32_768)] })))).toBeUndefined()
    const entry = { id: 'e2', text: 'more' }
    expect(await send(ann, { type: 'annotations/entrySet', annotationId: 'n1', entry } as never)).toMatch(
      /at most/,
    )
  })
})

describe('[H30] the author of an entry', () => {
  test('[H30.3] is recorded by the host: a client cannot make it up, and a resend is the same action', async () => {
    const { all, ann } = await annotated()
    const forged = { 'x-atrium': { author: { provider: 'mock' } }, mine: 1 }
    const sent = set(note('n1', { _meta: forged, entries: [{ id: 'e1', text: 'why?', _meta: forged }] }))
    const { action } = await ann.echo(ann.dispatch(uri, sent, 7))
    const { annotation } = action as unknown as { annotation: Annotation }
    expect(annotation._meta).toEqual({ mine: 1 })
    expect(annotation.entries[0]?._meta).toMatchObject({
      mine: 1,
      'x-atrium': { author: { clientId: 'ann' } },
    })
    const again = all.link()
    await again.ask('reconnect', { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [uri] })
    again.clientId = 'ann'
    expect(await again.echo(again.dispatch(uri, sent, 7))).toBeDefined()
    expect(again.envelopes.filter((each) => each.origin && each.rejectionReason === undefined)).toEqual([])
  })

  test('[H30.3] stays when another client changes something else, and changes with the text', async () => {
    const { all, ann } = await annotated()
    const ben = await all.join('ben', { subscribe: [uri] })
    await send(ann, set(note('n1')))
    await send(ben, set(note('n1', { resolved: true, entries: [{ id: 'e1', text: 'why?' }] })))
    const author = () => authorOf(stateOf(ben).annotations[0]?.entries[0] ?? { id: '', text: '' })?.clientId
    expect(author()).toBe('ann')
    await send(ben, set(note('n1', { entries: [{ id: 'e1', text: 'why not?' }] })))
    expect(author()).toBe('ben')
  })
})
