internal import CassetteStore
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// One call for a request and its value. Use `request`, `upload`, `download` and `stream` for progress, handlers, custom validations and
// everything else.
//
// They run where the caller runs, and so do encoding and decoding. A type may therefore belong to an actor, like those of a module that is
// isolated to the main actor by default. The response must have a status from 200 to 299, and a type that the request accepts. A task that
// is cancelled cancels its request.
extension HTTPSession {
    // MARK: GET

    /// The response to GET, decoded.
    ///
    ///     let pet = try await session.get("/pets/3", as: Pet.self)
    ///
    /// - Parameters:
    ///   - url: a path is appended to the configuration's `baseURL`.
    ///   - query: appended, encoded as a form.
    ///   - isolation: the caller's.
    /// - Throws: `WiretapeError`. For another status it has the code `validation`, and its cause is a `ValidationError` with the body.
    public func get<Value: Decodable>(
        _ url: any URLConvertible, query: (any Encodable)? = nil, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.get, url, try self.text(of: query), headers))
    }

    /// The body of the response to GET; empty if there is none.
    public func get(
        _ url: any URLConvertible, query: (any Encodable)? = nil, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.get, url, try self.text(of: query), headers)
    }

    // MARK: DELETE

    /// The response to DELETE, decoded.
    public func delete<Value: Decodable>(
        _ url: any URLConvertible, query: (any Encodable)? = nil, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.delete, url, try self.text(of: query), headers))
    }

    /// The body of the response to DELETE; empty if there is none.
    @discardableResult
    public func delete(
        _ url: any URLConvertible, query: (any Encodable)? = nil, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.delete, url, try self.text(of: query), headers)
    }

    // MARK: POST

    /// The response to POST with a value as JSON, decoded.
    ///
    ///     let added = try await session.post("/pets", json: pet, as: Pet.self)
    public func post<Value: Decodable>(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.post, url, nil, headers, try self.json(value)))
    }

    /// The body of the response to POST with a value as JSON; empty if there is none.
    @discardableResult
    public func post(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.post, url, nil, headers, try self.json(value))
    }

    /// The response to POST with a form, decoded.
    ///
    ///     var form = FormData()
    ///     try form.append("Miso", name: "name")
    ///     try form.append(photo, withName: "photo")
    ///     let pet = try await session.post("/pets", form: form, as: Pet.self)
    public func post<Value: Decodable>(
        _ url: any URLConvertible, form: FormData, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.post, url, nil, headers, self.content(form), isBlocking: true))
    }

    /// The body of the response to POST with a form; empty if there is none.
    @discardableResult
    public func post(
        _ url: any URLConvertible, form: FormData, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.post, url, nil, headers, self.content(form), isBlocking: true)
    }

    /// The response to POST with form parameters (`application/x-www-form-urlencoded`), decoded.
    ///
    ///     let token = try await session.post("/token", parameters: ["grant_type": "client_credentials"], as: Token.self)
    public func post<Value: Decodable>(
        _ url: any URLConvertible, parameters: some Encodable, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.post, url, nil, headers, try self.form(parameters)))
    }

    /// The body of the response to POST with form parameters; empty if there is none.
    @discardableResult
    public func post(
        _ url: any URLConvertible, parameters: some Encodable, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.post, url, nil, headers, try self.form(parameters))
    }

    // MARK: PUT, PATCH

    /// The response to PUT with a value as JSON, decoded.
    public func put<Value: Decodable>(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.put, url, nil, headers, try self.json(value)))
    }

    /// The body of the response to PUT with a value as JSON; empty if there is none.
    @discardableResult
    public func put(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.put, url, nil, headers, try self.json(value))
    }

    /// The response to PATCH with a value as JSON, decoded.
    public func patch<Value: Decodable>(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(), as type: Value.Type,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Value {
        try self.decoded(type, try await self.body(.patch, url, nil, headers, try self.json(value)))
    }

    /// The body of the response to PATCH with a value as JSON; empty if there is none.
    @discardableResult
    public func patch(
        _ url: any URLConvertible, json value: some Encodable, headers: Headers = Headers(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WiretapeError) -> Data {
        try await self.body(.patch, url, nil, headers, try self.json(value))
    }
}

extension HTTPSession {
    private typealias Content = @Sendable () throws -> RequestContent

    private func body(
        _ method: Method, _ url: any URLConvertible, _ query: String?, _ headers: Headers,
        _ content: @escaping Content = { .none }, isBlocking: Bool = false
    ) async throws(WiretapeError) -> Data {
        let source = RequestSource.plain(url, method, headers, query: query, body: content, isBlocking: isBlocking, nil)
        let request = DataRequest(core: self.core, source: source, interceptor: nil, sink: .memory).validate()
        // Start it even in a session whose requests wait for `resume`, since nobody else has this request.
        request.resume()
        let outcome = await withTaskCancellationHandler {
            await request.outcome()
        } onCancel: {
            request.cancel()
        }
        if let error = outcome.error { throw error }
        return outcome.data
    }

    private func text(of query: (any Encodable)?) throws(WiretapeError) -> String? {
        guard let query else { return nil }
        do {
            return try URLEncodedFormEncoder().encode(query)
        } catch {
            throw WiretapeError(error, as: .invalidRequest)
        }
    }

    private func json(_ value: some Encodable) throws(WiretapeError) -> Content {
        do {
            let data = try self.configuration.jsonEncoder.encode(value)
            return { RequestContent(body: .data(data), type: "application/json") }
        } catch {
            throw WiretapeError(
                .requestBody, "the value of type \"\(type(of: value))\" could not be encoded as JSON: \(error)", cause: error)
        }
    }

    private func form(_ parameters: some Encodable) throws(WiretapeError) -> Content {
        let data = Data((try self.text(of: parameters) ?? "").utf8)
        return { RequestContent(body: .data(data), type: "application/x-www-form-urlencoded; charset=utf-8") }
    }

    private func content(_ form: FormData) -> Content {
        let (threshold, folder) = (self.configuration.multipartThreshold, self.configuration.temporaryFolder)
        return { try RequestContent(form, threshold: threshold, folder: folder) }
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(WiretapeError) -> Value {
        do {
            return try self.configuration.decoder.decode(type, from: data)
        } catch {
            throw WiretapeError(
                .serialization, "could not decode \"\(type)\" from the \(data.count)-byte body: \(DecodingFailure.text(error))",
                cause: error)
        }
    }
}
