"""The names of operations, as a programmer would call the functions of a client.

Made from the summary, which is a sentence for people; where that gives no good name it is here.
"""

from typing import Final

_ARTICLES: Final = frozenset({"a", "an", "the", "by", "of", "for", "to", "own"})
_CHOSEN: Final = {
    # Tokens and members
    "Tokens of the entity by day, and its audit": "getEntityActivity",
    "Show the binding to listed addresses": "getAddressBinding",
    "Switch the binding to listed addresses": "setAddressBinding",
    "Add an admin to the entity": "addEntityAdmin",
    "Hand over your own admin role": "handOverEntityAdmin",
    "Send an invitation again": "resendInvitation",
    "Remove an admin of the entity": "removeEntityAdmin",
    "What needs attention of the entity's admins": "listActionItems",
    "Replace the entity's secret": "resetEntitySecret",
    "End the grace period of the old secret early": "retireOldEntitySecret",
    "When and from where the entity's secrets were used": "getEntitySecretUse",
    "Get a token as OAuth has it": "getOAuthToken",
    "List the published keys": "getPublishedKeys",
    "Get the metadata of the issuer": "getServerMetadata",
    # People
    "Read your own alarm preferences": "getAlarmPreferences",
    "Change your own alarm preferences": "setAlarmPreferences",
    "List your own webhook": "listMyWebhooks",
    "Add your own webhook": "addMyWebhook",
    "List the latest deliveries of your own webhook": "listMyWebhookDeliveries",
    "List the latest events of your own webhook": "listMyWebhookEvents",
    "Send an event of your own webhook again": "resendMyWebhookEvent",
    "Remove your own webhook": "removeMyWebhook",
    "Rotate the key of your own webhook": "rotateMyWebhookKey",
    "Test your own webhook": "testMyWebhook",
    "Confirm a change by the link in an email": "confirmLink",
    "Decline an invitation by the link in its email": "declineInvitation",
    "Ask for a link to set a password": "requestPasswordLink",
    "Set a password by the link in an email": "setPassword",
    "End one of your own sessions": "endMySession",
    "List your own console sessions": "listMySessions",
    "List your own tokens": "listMyTokens",
    "End one of your own tokens": "revokeMyToken",
    # Metrics and health
    "Read the health feed": "getHealthFeed",
    "Listen to the health feed": "streamHealthFeed",
    "List the FIPs that you follow": "listFollowedFips",
    "Follow a FIP": "followFip",
    "Stop following a FIP": "unfollowFip",
    "Show own health": "getOwnHealth",
    "List own incidents": "listOwnIncidents",
    "List own planned maintenances": "listOwnMaintenances",
    "Announce an own planned maintenance": "announceMaintenance",
    "Change an own planned maintenance": "changeMaintenance",
    "End an own planned maintenance": "endMaintenance",
    "Show the own consent and data funnel": "getOwnFunnel",
    "Compare oneself with one's role": "getOwnComparison",
    "Show the own volume of calls and its forecast": "getOwnVolume",
    "Show own receipts": "listReceipts",
    "List own webhooks": "listEntityWebhooks",
    "Add an own webhook": "addEntityWebhook",
    "List the latest deliveries of an own webhook": "listEntityWebhookDeliveries",
    "List the latest events of an own webhook": "listEntityWebhookEvents",
    "Send an event of an own webhook again": "resendEntityWebhookEvent",
    "Remove an own webhook": "removeEntityWebhook",
    "Rotate the key of an own webhook": "rotateEntityWebhookKey",
    "Test an own webhook": "testEntityWebhook",
    "Read the public status": "getPublicStatus",
    "Read the public status as CSV": "getPublicStatusCsv",
    "Get the status of the network": "getNetworkStatus",
    "Get the days of the network as CSV": "getNetworkStatusCsv",
    "Get the published service levels": "getPublishedLevels",
    # Service levels
    "List reports of levels": "listLevelReports",
    "Make a report of levels": "generateLevelReport",
    "Show a report of levels": "getLevelReport",
    "Prove a report of levels": "getLevelProof",
    "List own reports of levels": "listOwnLevelReports",
    "Make an own report of levels": "generateOwnLevelReport",
    "Show an own report of levels": "getOwnLevelReport",
    "Prove an own report of levels": "getOwnLevelProof",
    "Show the rule of levels": "getLevelRule",
    "Set the rule of levels": "setLevelRule",
    "List error budgets": "listErrorBudgets",
    "List own error budgets": "listOwnErrorBudgets",
    "Show the league table": "getLeague",
    "Show the league table to members": "getOwnLeague",
    # Disputes and the timeline
    "List the entity's disputes": "listOwnDisputes",
    "Raise a dispute, or publish a comment": "addDispute",
    "Show an own dispute": "getOwnDispute",
    "Take a step in an own dispute": "actOnOwnDispute",
    "Attach a file to an own dispute": "addEvidence",
    "Read a file of an own dispute": "getOwnEvidence",
    "List disputes": "listDisputes",
    "Show a dispute": "getDispute",
    "Take a step in a dispute": "actOnDispute",
    "Read a file of a dispute": "getEvidence",
    "Show the timeline": "getTimeline",
    "Show the entity's timeline": "getOwnTimeline",
    "Show what changed before an incident": "getChangesBefore",
    "Show what changed before an incident of the entity": "getChangesBeforeOwn",
    # Operators
    "Show the board": "getBoard",
    "Show the matrix of AAs and FIPs": "getHealthMatrix",
    "Show a picture of health": "getHealth",
    "List the latest deliveries of a webhook": "listWebhookDeliveries",
    "List the latest events of a webhook": "listWebhookEvents",
    "Send an event of a webhook again": "resendWebhookEvent",
    "Rotate the key of a webhook": "rotateWebhookKey",
    "Add an update to an announcement": "addAnnouncementUpdate",
    "Show the consent and data funnel": "getFunnel",
    "Show the quartiles of a role": "getComparison",
    "Show the volume of calls and its forecast": "getVolume",
    "Show an incident": "getIncident",
    "Try a mail again": "retryMail",
    "Act on many members": "actOnMembers",
    "Export members as a file": "exportMembers",
    "Onboard the members of a file": "importMembers",
    "Show a member's binding to listed addresses": "getMemberAddressBinding",
    "Switch a member's binding to listed addresses": "setMemberAddressBinding",
    "Suspend, restore, retire": "setMemberStatus",
    "Make an operator": "addOperator",
    "Show settings": "listSettings",
    "Disable an account": "disableUser",
    "Enable an account": "enableUser",
    "Change an address": "changeUserEmail",
    "Confirm an operator's new address": "confirmUserEmail",
    "Send a link again": "resendUserLink",
    "Reset a lost second factor": "resetSecondFactor",
    "End a user's tokens": "revokeUserTokens",
    # Registry
    "List live entries": "listEntries",
    "Show a live entry": "getEntry",
    "Follow changes": "listEntryChanges",
    "Update the entry that the payload names": "updateEntryByPayload",
    "Show the history of an entry": "getEntryHistory",
    "Show the latest probe of an entry": "getEntryProbe",
    "Probe the base URL of an entry": "probeEntry",
    "List what waits for approval": "listPendingEntries",
    "List the words of entries": "listVocabulary",
    # Sandbox
    "Move the service's clock forward": "advanceClock",
    "List the faults in force": "listFaults",
    "Switch a fault on": "startFault",
    "Read the mailbox": "listSandboxMails",
}


def operation_id(summary: str) -> str:
    """Name an operation: `generateUserAccessToken` for `Generate a User Access Token`."""
    if summary in _CHOSEN:
        return _CHOSEN[summary]
    words = [word for word in summary.replace("'s", "").split() if word.lower() not in _ARTICLES]
    first, *others = words
    return first.lower() + "".join(word[:1].upper() + word[1:] for word in others)


def chosen_summaries() -> frozenset[str]:
    """Return the summaries that have a name here: each must be one of an operation."""
    return frozenset(_CHOSEN)
