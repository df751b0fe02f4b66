import NIOCore
import NIOPosix
import Testing
@testable import TapeProxy

@Suite struct BufferedRequestBodyTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Holds pieces of these sizes and gives them back: what came, and the times of the pieces.
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
            for (number, block) in all.enumerated() { held.append(ByteBuffer(bytes: block), at: Double(number * 10)) }
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
    func whatCameComesBackWithItsTimes(sizes: [Int]) throws {
        let (sent, bytes, times) = try self.roundTrip(sizes)
        #expect(bytes == sent)
        #expect(times == sizes.indices.map { Double($0 * 10) })
    }

    @Test func moreThanTheDiskTakesIsTooMuch() throws {
        let loop = self.loop
        let done = loop.makePromise(of: [Bool].self)
        loop.execute {
            let held = BufferedRequestBody(framing: .untilClose, loop: loop, disk: .shared)
            let block = ByteBuffer(repeating: 7, count: BufferedRequestBody.memoryLimit + 1)
            held.append(block, at: 0)
            let first = held.isFull
            held.append(block, at: 0)
            let isFull = [first, held.isFull]
            held.whenReady { done.succeed(isFull + [held.isFull]) }
        }
        #expect(try done.futureResult.wait() == [false, true, false])
    }
}
