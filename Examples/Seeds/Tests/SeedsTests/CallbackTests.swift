import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes("callbacks", ignoring: [.host, .port])) struct CallbackTests {
    @Test func singleton() async throws {
        let url = try Origin.url
        let pets = try await withCheckedThrowingContinuation { continuation in
            Network.shared.pets(at: url, queue: .global()) { continuation.resume(with: $0) }
        }
        #expect(pets.count == 2)
    }

    /// Another queue does not have the test's cassette: it is carried there.
    @Test func anotherQueue() async throws {
        let url = try Origin.url
        let pets = try await withCheckedThrowingContinuation { continuation in
            withEscapedCassette { cassette in
                DispatchQueue(label: "seeds").async {
                    cassette.yield { Network.shared.pets(at: url, queue: .global()) { continuation.resume(with: $0) } }
                }
            }
        }
        #expect(pets.count == 2)
    }

    @Test func handlersAreCalledInTheirOrder() async throws {
        let url = try Origin.url.appendingPathComponent("pets")
        let steps = Steps<Int>()
        let queue = DispatchQueue(label: "seeds")
        let request = HTTPSession().request(url)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            request.responseData(queue: queue) { _ in steps.add(1) }
                .responseString(queue: .global()) { _ in steps.add(2) }
                .responseJSON(queue: queue) { _ in
                    steps.add(3)
                    // Added when the others are done.
                    request.responseData(queue: queue) { _ in
                        steps.add(4)
                        continuation.resume()
                    }
                }
        }
        #expect(steps.all == [1, 2, 3, 4])
    }
}
