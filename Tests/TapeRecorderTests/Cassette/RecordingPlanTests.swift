import CassetteModel
import CassetteStore
@testable import TapeRecorder
import Testing

@Suite struct RecordingPlanTests {
    @Test(
        arguments: [
            (RecordMode.once, false, false, RecordingPlan.Target.create), (.once, true, true, .nothing),
            (.newEpisodes, false, false, .create), (.newEpisodes, true, true, .append), (.all, false, false, .create),
            (.all, true, false, .replace), (.passthrough, false, false, .nothing), (.passthrough, true, false, .nothing),
            (.none, true, true, .nothing),
        ])
    func theModeAndTheDiskDecide(mode: RecordMode, exists: Bool, replays: Bool, target: RecordingPlan.Target) throws {
        let plan = try RecordingPlan(path: "p.json", mode: mode, exists: exists)
        #expect(plan.replays == replays)
        #expect(plan.target == target)
    }

    @Test func aReplayOfNothingIsAnErrorThatSaysHowToRecord() {
        let error = #expect(throws: CassetteError.self) { try RecordingPlan(path: "p.json", mode: .none, exists: false) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("wiretape record p.json") == true)
    }
}
