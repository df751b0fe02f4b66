import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking

/// Fails when a toolchain renames the properties of a task: uploads and pieces become invisible then.
@Suite struct TaskReflectionTests {
    private final class Delegate: NSObject, URLSessionDataDelegate {}

    private static let url = URL(string: "http://reflection.invalid/") ?? URL(fileURLWithPath: "/")

    private func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(configuration: .answered(by: AdapterTransport()), delegate: delegate, delegateQueue: nil)
    }

    @Test func thisToolchainShowsAllThree() {
        let reflection = TaskReflection.current
        #expect(reflection.sessionIndex != nil)
        #expect(reflection.bodyIndex != nil)
        #expect(reflection.registryIndices != nil)
    }

    @Test func aTaskKnowsItsSession() {
        let (one, two) = (self.session(), self.session())
        #expect(TaskReflection.current.session(of: one.dataTask(with: Self.url)) === one)
        #expect(TaskReflection.current.session(of: two.downloadTask(with: Self.url)) === two)
    }

    @Test func bodiesOfUploadsAreSeen() throws {
        let session = self.session(delegate: Delegate())
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        request.httpBody = Data("decoy".utf8)
        guard case .data(Data("body".utf8)) = TaskReflection.current.body(of: session.uploadTask(with: request, from: Data("body".utf8)))
        else {
            Issue.record("the data of an upload is not seen")
            return
        }
        let file = URL(fileURLWithPath: "/tmp/upload")
        guard case .file(file) = TaskReflection.current.body(of: session.uploadTask(with: request, fromFile: file)) else {
            Issue.record("the file of an upload is not seen")
            return
        }
        guard case .unmade = TaskReflection.current.body(of: session.uploadTask(withStreamedRequest: request)) else {
            Issue.record("a streamed upload is not seen")
            return
        }
        guard case .data = TaskReflection.current.body(of: session.uploadTask(with: request, from: Data())) else {
            Issue.record("an empty upload is taken for none")
            return
        }
    }

    @Test func aDelegateIsDistinguishedFromACompletionHandler() {
        let session = self.session(delegate: Delegate())
        let (delegated, handled) = (session.dataTask(with: Self.url), session.dataTask(with: Self.url) { _, _, _ in })
        let bare = self.session()
        let alone = bare.dataTask(with: Self.url)
        // After this, the sessions have registered their tasks.
        for task in [delegated, handled, alone] { task.suspend() }
        #expect(TaskReflection.current.isDelegates(delegated))
        #expect(!TaskReflection.current.isDelegates(handled))
        #expect(!TaskReflection.current.isDelegates(alone))
    }

    @Test func missingPropertyIsUnknown() {
        let nothing = TaskReflection()
        let task = self.session(delegate: Delegate()).uploadTask(with: URLRequest(url: Self.url), from: Data([1]))
        #expect(nothing.session(of: task) == nil)
        #expect(!nothing.isDelegates(task))
        guard case .unknown = nothing.body(of: task) else {
            Issue.record("a body was found where nobody looked")
            return
        }
        var wrong = TaskReflection.current
        wrong.sessionIndex = 0
        wrong.bodyIndex = 999
        #expect(wrong.session(of: task) == nil)
        guard case .unknown = wrong.body(of: task) else {
            Issue.record("a body was found in the wrong place")
            return
        }
    }
}
#endif

#if canImport(FoundationNetworking)

/// The calls to a delegate of a real session.
@Suite struct DelegatedTaskTests {
    private static let url = URL(string: "http://delegate.invalid/start") ?? URL(fileURLWithPath: "/")

    private static func redirecting(_ request: TransportRequest) -> [TransportEvent] {
        request.url.path == "/start"
            ? .answer(request, status: 302, headers: ["Location": "/next"], "moved") : .answer(request, request.url.path)
    }

    private func run(_ delegate: RecordingDelegate, inPlace: Bool) async -> ([String], [String]) {
        let transport = AdapterTransport { Self.redirecting($0) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: inPlace), delegate: delegate, delegateQueue: nil)
        let calls = await delegate.run(session.dataTask(with: Self.url))
        return (calls, transport.requests.map(\.url.path))
    }

    @Test(arguments: [true, false]) func itIsAskedAboutARedirect(inPlace: Bool) async {
        let (calls, paths) = await self.run(RecordingDelegate(), inPlace: inPlace)
        #expect(calls == ["redirect 302 to GET /next", "200", "/next", "complete"])
        #expect(paths == ["/start", "/next"])
    }

    @Test(arguments: [true, false]) func itMayTakeTheRedirectForTheAnswer(inPlace: Bool) async {
        let (calls, paths) = await self.run(RecordingDelegate { _ in nil }, inPlace: inPlace)
        #expect(calls == ["redirect 302 to GET /next", "302", "moved", "complete"])
        #expect(paths == ["/start"])
    }

    @Test func itMayChangeTheRequest() async {
        let delegate = RecordingDelegate { request in
            var request = request
            request.url = URL(string: "http://delegate.invalid/other")
            return request
        }
        let (calls, paths) = await self.run(delegate, inPlace: true)
        #expect(calls == ["redirect 302 to GET /next", "200", "/other", "complete"])
        #expect(paths == ["/start", "/other"])
    }

    @Test func itGetsTheUploadProgress() async {
        let transport = AdapterTransport { [.sent(3, of: 7), .sent(3, of: 7), .sent(7, of: 7)] + .answer($0) }
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .answered(by: transport, inPlace: true), delegate: delegate, delegateQueue: nil)
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        let calls = await delegate.run(session.uploadTask(with: request, from: Data("1234567".utf8)))
        #expect(calls == ["sent 3, 3 of 7", "sent 4, 7 of 7", "200", "complete"])
    }
}
#endif
