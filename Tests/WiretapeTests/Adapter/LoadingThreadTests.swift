import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct LoadingThreadTests {
    #if canImport(FoundationNetworking)
    private static let url = URL(string: "http://thread.invalid/") ?? URL(fileURLWithPath: "/")

    @Test func aTaskThatComesBackIsStartedAgain() async {
        let transport = AdapterTransport()
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .answered(by: transport, inPlace: true), delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: Self.url)
        task.resume()
        transport.started.wait()
        // What there is to give is given whenever the load starts again, by whomever.
        LoadingThread().comeBack(task) {}
        LoadingThread().comeBack(nil) {}
        transport.send([.head(HTTPResponse(url: Self.url, status: 204)), .end])
        #expect(await delegate.ended() == ["204", "complete"])
    }

    @Test func aTaskThatWaitsIsNotCancelled() {
        let session = URLSession(configuration: .answered(by: AdapterTransport()))
        let task = session.dataTask(with: Self.url)
        #expect(!LoadingThread.isCancelled(task))
        task.cancel()
        task.suspend()
        #expect(LoadingThread.isCancelled(task))
        #expect(LoadingThread.isCancelled(nil))
    }
    #else
    @Test func workComesBackToTheThreadThatHasEntered() {
        let thread = LoadingThread()
        thread.enter()
        let entered = Thread.current
        nonisolated(unsafe) var seen: Thread?
        DispatchQueue.global().async {
            thread.comeBack(nil) {
                seen = Thread.current
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
        }
        CFRunLoopRunInMode(.defaultMode, 10, false)
        #expect(seen === entered)
        #expect(LoadingThread.isCancelled(nil))
    }
    #endif
}
