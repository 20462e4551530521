/**
 * Reducer cases that were published for AHP 0.8.0-dev, and whose expected result a later version of AHP changed. The
 * reducers of 1.0 run all cases of 0.8.0-dev, and must give another result in these, which differs exactly where the rule
 * says. A listed case that passes is reported as a failure, so that no entry stays in the list without need.
 */
const changes: readonly Change[] = [
  {
    rule: '0.8: a toggle carries scoped decisions instead of one flag',
    differs: ['throws'],
    cases: [
      '060-session-customizationtoggled-toggles-by-id',
      '225-session-customizationtoggled-toggles-child-by-id',
    ],
  },
  {
    rule: '0.9: a session that could not be created is "failed"',
    differs: ['/lifecycle'],
    cases: ['004-session-creationfailed'],
  },
  {
    rule: '0.9: turnStarted sets modifiedAt to its own startedAt',
    differs: ['/modifiedAt'],
    cases: [
      '005-session-turnstarted',
      '006-turnstarted-with-queuedmessageid-',
      '007-turnstarted-with-queuedmessageid-',
      '008-turnstarted-with-queuedmessageid-',
      '009-turnstarted-without-queuedmessageid-',
      '075-turnstarted-clears-isread',
      '105-session-input-full-draft-and-complete-flow',
    ],
  },
  {
    rule: '0.9: modifiedAt at the end of a turn is its start plus its duration',
    differs: ['/modifiedAt'],
    cases: ['240-turn-duration-is-clamped-to-zero', '250-turncomplete-force-cancels-auth-required-tool-call'],
  },
  {
    rule: '0.9: truncating does not touch modifiedAt',
    differs: ['/modifiedAt'],
    cases: [
      '063-session-truncated-',
      '064-session-truncated-',
      '065-session-truncated-',
      '066-session-truncated-',
      '067-session-truncated-drops-active-turn',
      '068-session-truncated-drops-active-turn-',
      '234-chat-truncated-clears-turns-next-cursor-when-clearing-all',
    ],
  },
  {
    rule: '0.9: questions and answers do not touch modifiedAt',
    differs: ['/modifiedAt'],
    cases: [
      '106-session-input-requested-with-drafts-status',
      '108-session-input-upsert-and-clear-answer',
      '110-session-input-completion-and-truncation-filtering',
      '235-session-input-completion-records-declined-request-in-turn',
    ],
  },
  {
    rule: '0.9: an error is the last part of its turn',
    differs: ['/turns/0/error'],
    cases: ['016-session-error-finalizes-turn-with-error'],
  },
  {
    rule: '0.9: a terminal that ended has a lifecycle instead of an exit code',
    differs: ['/exitCode', '/lifecycle'],
    cases: ['081-terminal-exited', '083-terminal-full-lifecycle'],
  },
  {
    rule: '0.9: new content does not change the error of a changeset',
    differs: ['/error/message'],
    cases: ['159-changeset-contentchanged-updates-error'],
  },
  {
    rule: '0.9: an annotation has an origin instead of a turn',
    differs: ['/annotations/0/turnId'],
    cases: ['218-annotations-updated-reanchors-turn-and-range'],
  },
]

export interface Change {
  /** The rule that changed the result, and the version that introduced it. */
  readonly rule: string
  /** Where the result differs from the expected one, as JSON pointers; `throws` if the reducer throws. */
  readonly differs: readonly string[]
  /** The names of the cases. A name that ends in `-` stands for the only case that begins so. */
  readonly cases: readonly string[]
}

/** The change of the expected result of this case of 0.8.0-dev; undefined if the case is not listed. */
export function changedBy(file: string): Change | undefined {
  const name = file.replace(/\.json$/, '')
  return changes.find(({ cases }) =>
    cases.some((each) => (each.endsWith('-') ? name.startsWith(each) : name === each)),
  )
}
