import NIOCore
import NIOPosix
@testable import TapeProxy
import Testing

@Suite struct BufferedRequestBodyTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Buffers pieces of these sizes and returns them: the bytes, and the times of the pieces.
    private func roundTrip(_ sizes: [Int]) throws -> (sent: [UInt8], bytes: [UInt8], times: [Double]) {
        let loop = self.loop
        let done = loop.makePromise(of: ([UInt8], [Double]).self)
        var sent: [UInt8] = []
        var blocks: [[UInt8]] = []
        for (number, size) in sizes.enumerated() {
            let block = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
            blocks.append(block)
            sent += block
        }
        let all = blocks
        loop.execute {
            let held = BufferedRequestBody(framing: .untilClose, loop: loop, disk: .shared)
            for (number, block) in all.enumerated() { held.append(BodyPiece(bytes: ByteBuffer(bytes: block)), at: Double(number * 10)) }
            var bytes: [UInt8] = []
            var times: [Double] = []
            func take() {
                held.next { result in
                    switch result {
                    case .success(let pieces):
                        guard !pieces.isEmpty else { return done.succeed((bytes, times)) }
                        for piece in pieces {
                            bytes += piece.body.bytes.readableBytesView
                            if times.last != piece.at { times.append(piece.at) }
                        }
                        take()
                    case .failure(let error): done.fail(error)
                    }
                }
            }
            held.whenReady(take)
        }
        let (bytes, times) = try done.futureResult.wait()
        return (sent, bytes, times)
    }

    @Test(
        arguments: [
            [], [5], [1, 2, 3], [BufferedRequestBody.memoryLimit], [BufferedRequestBody.memoryLimit, 1],
            [700_000, 700_000, 10, 3_000_000, 5],
        ])
    func bufferedBytesComeBackWithTheirTimes(sizes: [Int]) throws {
        let (sent, bytes, times) = try self.roundTrip(sizes)
        #expect(bytes == sent)
        // An empty body is recognized only by its end.
        #expect(times == (sizes.isEmpty ? [0] : sizes.indices.map { Double($0 * 10) }))
    }

    @Test func moreThanTheDiskTakesIsTooMuch() throws {
        let loop = self.loop
        let done = loop.makePromise(of: [Bool].self)
        loop.execute {
            let held = BufferedRequestBody(framing: .untilClose, loop: loop, disk: .shared)
            let block = BodyPiece(bytes: ByteBuffer(repeating: 7, count: BufferedRequestBody.memoryLimit + 1))
            held.append(block, at: 0)
            let first = held.isFull
            held.append(block, at: 0)
            let isFull = [first, held.isFull]
            held.whenReady { done.succeed(isFull + [held.isFull]) }
        }
        #expect(try done.futureResult.wait() == [false, true, false])
    }
}

@Suite struct ReadTimesTests {
    private func all(_ times: ReadTimes, by limit: Int) -> [String] {
        var times = times
        var taken: [String] = []
        while let (count, at) = times.take(atMost: limit) { taken.append("\(count)@\(at)") }
        return taken
    }

    @Test func bytesComeOffWithTheirTimes() {
        var times = ReadTimes()
        times.add(10, at: 0)
        times.add(0, at: 1)
        times.add(5, at: 100)
        #expect(self.all(times, by: 100) == ["10@0.0", "5@100.0"])
        #expect(self.all(times, by: 4) == ["4@0.0", "4@0.0", "2@0.0", "4@100.0", "1@100.0"])
        #expect(times.take(atMost: 0) == nil)
    }

    @Test func aBurstIsOne() {
        var times = ReadTimes()
        times.add(1, at: 10)
        times.add(2, at: 11.9)
        times.add(4, at: 12.1)
        #expect(self.all(times, by: 100) == ["3@10.0", "4@12.1"])
    }

    @Test func theListIsBounded() {
        var times = ReadTimes()
        for number in 0..<ReadTimes.limit + 10 { times.add(1, at: Double(number * 10)) }
        let taken = self.all(times, by: 100)
        #expect(taken.count == ReadTimes.limit)
        #expect(taken.last == "11@\(Double((ReadTimes.limit - 1) * 10))")
    }
}
