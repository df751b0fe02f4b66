// The names of other targets that stand in public signatures of this module: whoever imports TapeProxy can write them. Scoped, so that
// nothing else of those targets gets into the importing file. See the same file of Wiretape.
@_exported public import struct CassetteModel.CassetteError
@_exported public import class CassettePlayback.CassetteSession
@_exported public import struct CassettePlayback.DateRefresh
@_exported public import struct TapeTrust.HostPattern
@_exported public import enum CassettePlayback.Latency
@_exported public import struct CassetteRedaction.LiveRedactor
@_exported public import struct CassettePlayback.MatchRuleTexts
@_exported public import struct CassettePlayback.MatchRules
@_exported public import enum CassetteStore.RecordMode
@_exported public import class CassettePlayback.RecordedCassette
@_exported public import struct CassetteRedaction.RedactionRules
@_exported public import enum CassettePlayback.Repetition
@_exported public import enum CassettePlayback.ReplayOrder
@_exported public import struct CassettePlayback.ReplayReport
@_exported public import enum TapeTrust.ServerTrust
@_exported public import struct TapeBytes.Timestamp
@_exported public import struct CassettePlayback.Verdict
@_exported public import enum CassettePlayback.VerdictFlaw
@_exported public import class TapeRecorder.Recorder
@_exported public import struct TapeRecorder.RecorderProblem
@_exported public import struct TapeRecorder.RecorderStatus
@_exported public import struct TapeRecorder.RecordingPlan
@_exported public import class TapeTLS.ClientIdentity
@_exported public import class TapeTLS.KeyLog
@_exported public import enum TapeTLS.TLSVersion
