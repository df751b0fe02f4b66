import CassetteModel
import CassettePlayback
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ReplayScriptTests {
    private func answer(_ interaction: Interaction, _ pieces: [String] = [], failure: TransportFailure? = nil) -> ReadyAnswer {
        ReadyAnswer(
            interaction, url: URL(fileURLWithPath: "/"), source: .stub, content: .pieces(pieces.map { Data($0.utf8) }), arrival: nil,
            failure: failure)
    }

    /// The names of the steps, to the last.
    private func steps(_ script: ReplayScript, now: Double = .infinity) -> [String] {
        var script = script
        var names: [String] = []
        while names.count < 20 {
            switch script.next(now: now) {
            case .emit(.sent(let count, _)): names.append("sent \(count)")
            case .emit(.interim): names.append("interim")
            case .emit(.head): names.append("head")
            case .emit(.chunk(let data)): names.append(String(decoding: data, as: UTF8.self))
            case .emit(.trailers): names.append("trailers")
            case .emit(.metrics): names.append("metrics")
            case .emit(.end): names.append("end")
            case .emit(.failed): names.append("failed")
            case .wait(let due): return names + ["wait \(due)"]
            case .read: return names + ["read"]
            case .hang: return names + ["hang"]
            case .over: return names
            }
        }
        return names
    }

    @Test func partsComeInTheOrderOfATransport() {
        var interaction = CassetteFixture.interaction(url: "http://a.test/")
        interaction.interim = [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: 1)]
        interaction.response?.trailers = HeaderFields(["A: 1"])
        let script = ReplayScript(self.answer(interaction, ["a", "", "b"]), request: .make("GET", "http://a.test/"), latency: .none)
        #expect(self.steps(script) == ["interim", "head", "a", "b", "trailers", "metrics", "end"])
    }

    @Test func anUploadGoesOutInTheRecordedShares() {
        var interaction = CassetteFixture.interaction(
            url: "http://a.test/", requestBody: CassetteFixture.text("aabbbbbb", pieces: [(0, 2), (3, 6)]))
        var script = ReplayScript(
            self.answer(interaction), request: .make("PUT", "http://a.test/", body: .data(Data(count: 100))), latency: .none)
        #expect(self.steps(script) == ["sent 25", "sent 100", "head", "metrics", "end"])
        interaction.request.body = nil
        script = ReplayScript(self.answer(interaction), request: .make("PUT", "http://a.test/", body: .data(Data())), latency: .none)
        #expect(self.steps(script) == ["head", "metrics", "end"])
    }

    @Test func aFailureTakesThePlaceOfTheEndAndOfTrailers() {
        var interaction = CassetteFixture.interaction(url: "http://a.test/")
        interaction.response?.trailers = HeaderFields(["A: 1"])
        let failure = TransportFailure(.network(.truncated), "cut")
        let script = ReplayScript(
            self.answer(interaction, ["a"], failure: failure), request: .make("GET", "http://a.test/"), latency: .none)
        #expect(self.steps(script) == ["head", "a", "metrics", "failed"])
        interaction.response = nil
        let without = ReplayScript(self.answer(interaction, failure: failure), request: .make("GET", "http://a.test/"), latency: .none)
        #expect(self.steps(without) == ["metrics", "failed"])
    }

    @Test func eachPartIsDueInItsTime() {
        let interaction = CassetteFixture.interaction(url: "http://a.test/")
        let script = ReplayScript(self.answer(interaction, ["a"]), request: .make("GET", "http://a.test/"), latency: .scaled(1))
        #expect(self.steps(script, now: 0) == ["wait 40.0"])
        #expect(self.steps(script, now: 40) == ["head", "wait 140.0"])
        #expect(self.steps(script, now: 140) == ["head", "a", "metrics", "end"])
        let fixed = ReplayScript(self.answer(interaction, ["a"]), request: .make("GET", "http://a.test/"), latency: .fixed(7))
        #expect(self.steps(fixed, now: 0) == ["wait 7.0"])
        #expect(self.steps(fixed, now: 7) == ["head", "a", "metrics", "end"])
    }

    @Test func aStreamIsReadPieceByPiece() {
        let answer = ReadyAnswer(
            CassetteFixture.interaction(url: "http://a.test/"), url: URL(fileURLWithPath: "/"), source: .stub,
            content: .stream(CassetteFixture.text("ab")), arrival: nil, failure: nil)
        var script = ReplayScript(answer, request: .make("GET", "http://a.test/"), latency: .none)
        #expect(self.steps(script) == ["head", "read"])
        _ = script.next(now: 0)
        guard case .read(limit: ReplayScript.pieceSize) = script.next(now: 0) else {
            Issue.record("nothing is read")
            return
        }
        script.read(Data("a".utf8), isLast: false)
        #expect(self.steps(script) == ["a", "read"])
        _ = script.next(now: 0)
        script.read(Data("b".utf8), isLast: true)
        #expect(self.steps(script) == ["b", "metrics", "end"])
        script.failed(.cancelled())
        #expect(self.steps(script) == ["failed"])
    }
}
