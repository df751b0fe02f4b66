import CassetteModel
import TapeBytes
import TapeExchange
@testable import TapeProxy
import TapeTestSupport
import Testing

@Suite struct ReplayCacheTests {
    /// Each has about 1,100 bytes, and takes 2,048.
    private func answer(_ number: Int, status: Int = 200) throws -> RecordedAnswer {
        let body = Array(String(repeating: "\(number) ", count: 1000).utf8.prefix(1000))
        let interaction = Interaction(
            id: number, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a.test/\(number)"),
            response: RecordedResponse(
                status: status, headers: HeaderFields(["Content-Length: 1000"]), body: Body(size: 1000, content: .text(body))))
        return try RecordedAnswer(interaction, payload: .bytes(body), size: 1000)
    }

    private func filled(_ limits: ReplayCache.Limits, folder: String? = nil) throws -> ReplayCache {
        let cache = ReplayCache(limits, folder: folder)
        for number in 0..<50 { cache.insert(try self.answer(number), at: number) }
        return cache
    }

    private func held(_ cache: ReplayCache) throws -> [Int] {
        try (0..<50).filter { number in
            guard let found = cache.ready(number) else { return false }
            let made = ReadyAnswer(try self.answer(number))
            #expect(found.bytes == made?.bytes, "\(number)")
            return true
        }
    }

    @Test func answersWithoutRoomInMemoryAreInTheFile() throws {
        let cache = try self.filled(ReplayCache.Limits(ready: 20_000, readyAlone: 40_000, answers: 10_000, file: 1 << 20))
        #expect(try self.held(cache) == Array(0..<50))
        #expect(cache.answer(3) == nil && cache.answer(40) == nil)
    }

    @Test func withoutRoomInTheFileTheNewestAreInMemory() throws {
        let cache = try self.filled(ReplayCache.Limits(ready: 20_000, readyAlone: 40_000, answers: 10_000, file: 11_000))
        let held = try self.held(cache)
        #expect(held.count > 20 && held.count < 35 && held.contains(49))
    }

    @Test func aFileThatCannotBeMadeIsNoReasonNotToReplay() throws {
        let cache = try self.filled(
            ReplayCache.Limits(ready: 20_000, readyAlone: 40_000, answers: 10_000, file: 1 << 20), folder: TemporaryFolder().file("nowhere")
        )
        let held = try self.held(cache)
        #expect(held.count > 10 && held.count < 20 && held.contains(49))
    }

    /// An HTTP/2 client asks for one form, an HTTP/1.1 client for the other.
    @Test func anAnswerThatIsReadAgainIsHeldInTheOtherFormAsWell() throws {
        let cache = try self.filled(ReplayCache.Limits(ready: 20_000, readyAlone: 40_000, answers: 10_000, file: 1 << 20))
        for number in [1, 49] {
            cache.insert(try self.answer(number), at: number)
            #expect(cache.answer(number)?.method == "GET" && cache.ready(number) != nil)
        }
    }
}
