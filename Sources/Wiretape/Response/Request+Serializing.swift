internal import Foundation
internal import TapeBytes

extension Request {
    /// How the request ended; cancelled with the task that waits for it, where that is wanted.
    func outcome(cancelsAutomatically: Bool) async -> RequestOutcome {
        if let outcome = self.data.withLock({ $0.outcome }) { return outcome }
        guard cancelsAutomatically else { return await self.outcome() }
        return await withTaskCancellationHandler {
            await self.outcome()
        } onCancel: {
            self.cancel()
        }
    }

    /// A handler that makes a response where serializers work, and hands it over on a queue.
    func add<Response: Sendable>(
        _ queue: DispatchQueue, _ make: @escaping @Sendable (RequestOutcome) -> Response, _ handler: @escaping @Sendable (Response) -> Void
    ) {
        // Who never starts would be kept by its own handlers.
        self.add { [weak self] outcome, done in
            guard let self else { return done() }
            SessionCore.serializationQueue.async {
                let response = make(outcome)
                queue.async {
                    self.withItsCassette { handler(response) }
                    done()
                }
            }
        }
    }
}
