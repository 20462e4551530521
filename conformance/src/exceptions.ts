/**
 * Reducer cases that were published for AHP 0.8.0-dev, and whose expected result a later version of AHP changed. The
 * reducers of 1.0 run all cases of 0.8.0-dev, and must fail these. Each key is the rule that changed the result; its
 * list holds the first characters of the names of the cases. A listed case that passes is reported as a failure, so
 * that no entry stays in the list without need.
 */
const changedSince: { readonly [rule: string]: readonly string[] } = {
  '0.8: a toggle carries scoped decisions instead of one flag': [
    '060-session-customizationtoggled-toggles-by-id',
    '225-session-customizationtoggled-toggles-child-by-id',
  ],
  '0.9: a session that could not be created is "failed"': ['004-session-creationfailed'],
  '0.9: turnStarted sets modifiedAt to its own startedAt': [
    '005-session-turnstarted',
    '006-turnstarted-with-queuedmessageid-',
    '007-turnstarted-with-queuedmessageid-',
    '008-turnstarted-with-queuedmessageid-',
    '009-turnstarted-without-queuedmessageid-',
    '075-turnstarted-clears-isread',
    '105-session-input-full-draft-and-complete-flow',
  ],
  '0.9: modifiedAt at the end of a turn is its start plus its duration': [
    '240-turn-duration-is-clamped-to-zero',
    '250-turncomplete-force-cancels-auth-required-tool-call',
  ],
  '0.9: truncating does not touch modifiedAt': [
    '063-session-truncated-',
    '064-session-truncated-',
    '065-session-truncated-',
    '066-session-truncated-',
    '067-session-truncated-drops-active-turn',
    '068-session-truncated-drops-active-turn',
    '234-chat-truncated-clears-turns-next-cursor-when-clearing-all',
  ],
  '0.9: questions and answers do not touch modifiedAt': [
    '106-session-input-requested-with-drafts-status',
    '108-session-input-upsert-and-clear-answer',
    '110-session-input-completion-and-truncation-filtering',
    '235-session-input-completion-records-declined-request-in-turn',
  ],
  '0.9: an error is the last part of its turn': ['016-session-error-finalizes-turn-with-error'],
  '0.9: a terminal that ended has a lifecycle instead of an exit code': [
    '081-terminal-exited',
    '083-terminal-full-lifecycle',
  ],
  '0.9: new content does not change the error of a changeset': ['159-changeset-contentchanged-updates-error'],
  '0.9: an annotation has an origin instead of a turn': ['218-annotations-updated-reanchors-turn-and-range'],
}

/** The rule that changed the expected result of this case of 0.8.0-dev; undefined if the case is not listed. */
export function changedBy(name: string): string | undefined {
  const found = Object.entries(changedSince).find(([, starts]) =>
    starts.some((start) => name.startsWith(start)),
  )
  return found?.[0]
}
